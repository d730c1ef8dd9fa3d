/** Multipart form with files. Built by hand, because browsers escape some characters of file names. */

export interface SentForm {
  readonly body: Blob
  readonly type: string
}

interface SentFile {
  readonly name: string
  readonly content: Blob
  /** Modification time in milliseconds. */
  readonly modified: number
}

export function formOf(fields: Readonly<Record<string, string>>, files: readonly SentFile[]): SentForm {
  const boundary = `carrel-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join('')}`
  const parts: BlobPart[] = []
  // Fields first, so that the server can reject them before it receives a file.
  for (const [name, value] of Object.entries(fields)) {
    parts.push(textPart(boundary, name, value))
  }
  for (const { name, content, modified } of files) {
    const time = timeText(modified)
    // Before each file, because the files of a batch have different times.
    if (time !== undefined) parts.push(textPart(boundary, 'last_modify', time))
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

function textPart(boundary: string, name: string, value: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
}

/** RFC 3339. Undefined for a time that cannot be written so. */
function timeText(modified: number): string | undefined {
  const time = new Date(modified)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

/** Percent-encodes a name for a header. */
export const encoded = (name: string) => encodeURIComponent(name.toWellFormed())
