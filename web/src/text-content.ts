/** The text of a file, with what must be known to write it again as it was. */
export interface TextContent {
  readonly text: string
  readonly charset: 'utf-8' | 'utf-16' | 'latin-1'
  readonly hasMark: boolean
  readonly lineBreak: '\n' | '\r\n'
  /** Whether this is all of the file. */
  readonly isWhole: boolean
}

/** What an editor takes in one go; of longer files the beginning is shown. */
export const MOST_BYTES = 2 * 2 ** 20

const LOOKED_AT_FOR_NUL = 8192

/** Undefined for bytes that are no text, whatever the name of the file says. */
export function decoded(bytes: Uint8Array, isWhole: boolean): TextContent | undefined {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return of(bytes, 'utf-16le', 'utf-16', true, isWhole)
  if (first === 0xfe && second === 0xff) return of(bytes, 'utf-16be', 'utf-16', true, isWhole)
  if (bytes.subarray(0, LOOKED_AT_FOR_NUL).includes(0)) return undefined
  const hasMark = first === 0xef && second === 0xbb && third === 0xbf
  try {
    return of(bytes, 'utf-8', 'utf-8', hasMark, isWhole)
  } catch {
    return of(bytes, 'windows-1252', 'latin-1', false, isWhole)
  }
}

function of(
  bytes: Uint8Array,
  label: string,
  charset: TextContent['charset'],
  hasMark: boolean,
  isWhole: boolean,
): TextContent {
  // A file that was cut off may end within a character: what is missing of it is no error.
  const text = new TextDecoder(label, { fatal: true }).decode(bytes, { stream: !isWhole })
  const breaks = text.match(/\r?\n/g)?.slice(0, 1000) ?? []
  const isDos = breaks.filter((one) => one === '\r\n').length > breaks.length / 2
  return { text: text.replaceAll('\r\n', '\n'), charset, hasMark, lineBreak: isDos ? '\r\n' : '\n', isWhole }
}

/** The bytes a text is saved as: UTF-8, with the line breaks and the mark it had. */
export function encoded(text: string, { hasMark, lineBreak, charset }: TextContent): Blob {
  const broken = lineBreak === '\n' ? text : text.replaceAll('\n', lineBreak)
  return new Blob([hasMark && charset === 'utf-8' ? '\ufeff' : '', broken], { type: 'text/plain' })
}
