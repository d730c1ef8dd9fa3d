const BOUNDARY = '----carrel-bench-7d1c3f'

/** Content type of the multipart bodies. */
export const multipartHeaders = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` }

/** A file of a form. Its content is Latin-1. */
export interface FormFile {
  readonly name: string
  readonly content: string
}

/** A multipart body: text fields first, then files. */
export function multipartBody(texts: Readonly<Record<string, string>>, files: readonly FormFile[]): string {
  const parts = files.map(({ name, content }) => `${fileHead(name)}${content}\r\n`)
  return `${textParts(texts)}${parts.join('')}${multipartEnd}`
}

/** Everything before the bytes of a form's only file; multipartTail follows them. */
export function multipartHead(texts: Readonly<Record<string, string>>, filename: string): string {
  return textParts(texts) + fileHead(filename)
}

const multipartEnd = `--${BOUNDARY}--\r\n`
export const multipartTail = `\r\n${multipartEnd}`

function textParts(texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts)
    .map(
      ([name, text]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`,
    )
    .join('')
}

function fileHead(filename: string): string {
  const disposition = `Content-Disposition: form-data; name="file"; filename="${filename}"`
  return `--${BOUNDARY}\r\n${disposition}\r\nContent-Type: application/octet-stream\r\n\r\n`
}
