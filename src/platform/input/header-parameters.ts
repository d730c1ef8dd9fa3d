import { decodeUtf8 } from './form-decoding.ts'

/** The `; name="value"` pairs of a header, names in lower case. `\"` and `\\` are unescaped. */
export function parametersOf(header: string): Map<string, string> {
  const parameters = new Map<string, string>()
  pair.lastIndex = 0
  for (let found = pair.exec(header); found !== null; found = pair.exec(header)) {
    const [, name = '', quoted, plain = ''] = found
    const value = quoted?.includes('\\') ? quoted.replace(/\\(["\\])/g, '$1') : quoted
    parameters.set(name.toLowerCase(), value ?? plain.trim())
  }
  return parameters
}

const pair = /;\s*([^=;\s]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g

/** The boundary of a multipart content type; undefined if it has no valid one. */
export function boundaryOf(contentType: string): string | undefined {
  const boundary = parametersOf(contentType).get('boundary')
  return boundary === undefined || boundary === '' || boundary.length > 200 ? undefined : boundary
}

/** The file name in the parameters of a Content-Disposition. */
export function filenameOf(parameters: ReadonlyMap<string, string>): string | undefined {
  return decodeExtended(parameters.get('filename*')) ?? parameters.get('filename')
}

/** `UTF-8''percent-encoded`, as Android sends file names. */
function decodeExtended(value: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/is.exec(value ?? '')?.[1]
  return encoded === undefined ? undefined : decodePercent(Buffer.from(encoded))
}

/** Decodes percent-escapes. An invalid one is kept literally. */
export function decodePercent(text: Buffer): string {
  const bytes = text
    .toString('latin1')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decodeUtf8(Buffer.from(bytes, 'latin1'))
}
