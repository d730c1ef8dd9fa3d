/** Multipart form with files. Built by hand, because browsers escape some characters of file names. */

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
  // Fields first, so that the server can reject them before it receives a file.
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

/** Percent-encodes a name for a header. */
export const encoded = (name: string) => encodeURIComponent(name.toWellFormed())
