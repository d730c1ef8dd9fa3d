/** A form with files, made by hand: names are sent so that every character of them survives. */

export interface SentForm {
  readonly body: Blob
  readonly type: string
}

export function formOf(
  fields: Readonly<Record<string, string>>,
  files: readonly { readonly name: string; readonly content: Blob }[],
): SentForm {
  const boundary = `carrel-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join('')}`
  const parts: BlobPart[] = []
  // Texts first: what is wrong with them is then found before any file is received.
  for (const [name, value] of Object.entries(fields)) {
    parts.push(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  }
  for (const { name, content } of files) {
    parts.push(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename*=UTF-8''${encoded(name)}\r\n`,
      'Content-Type: application/octet-stream\r\n\r\n',
      content,
      '\r\n',
    )
  }
  parts.push(`--${boundary}--\r\n`)
  return { body: new Blob(parts), type: `multipart/form-data; boundary=${boundary}` }
}

/** As the headers of a request and of a part may carry a name. */
export const encoded = (name: string) => encodeURIComponent(name.toWellFormed())
