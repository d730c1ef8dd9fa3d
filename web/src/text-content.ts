/** How the text of a file is encoded, to save it unchanged. */
export interface TextForm {
  readonly charset: 'utf-8' | 'utf-16' | 'latin-1'
  readonly hasMark: boolean
  readonly lineBreak: '\n' | '\r\n'
}

/** The text of a file. */
export interface TextContent extends TextForm {
  readonly text: string
  /** Whether the whole file was loaded. */
  readonly isWhole: boolean
}

/** Larger files are truncated. */
export const MAX_BYTES = 2 * 2 ** 20

const LOOKED_AT_FOR_NUL = 8192

/** Decodes a text file. Undefined for binary content. */
export function decodeText(bytes: Uint8Array, isWhole: boolean): TextContent | undefined {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return decodeAs(bytes, 'utf-16le', 'utf-16', true, isWhole)
  if (first === 0xfe && second === 0xff) return decodeAs(bytes, 'utf-16be', 'utf-16', true, isWhole)
  if (bytes.subarray(0, LOOKED_AT_FOR_NUL).includes(0)) return undefined
  const hasMark = first === 0xef && second === 0xbb && third === 0xbf
  try {
    return decodeAs(bytes, 'utf-8', 'utf-8', hasMark, isWhole)
  } catch {
    return decodeAs(bytes, 'windows-1252', 'latin-1', false, isWhole)
  }
}

function decodeAs(
  bytes: Uint8Array,
  label: string,
  charset: TextContent['charset'],
  hasMark: boolean,
  isWhole: boolean,
): TextContent {
  // A truncated file may end within a character; with `stream` that is no error.
  const text = new TextDecoder(label, { fatal: true }).decode(bytes, { stream: !isWhole })
  const breaks = text.match(/\r?\n/g)?.slice(0, 1000) ?? []
  const isDos = breaks.filter((one) => one === '\r\n').length > breaks.length / 2
  return { text: text.replaceAll('\r\n', '\n'), charset, hasMark, lineBreak: isDos ? '\r\n' : '\n', isWhole }
}

/** Encodes a text as UTF-8, with its original line breaks and byte order mark. */
export function encodeText(text: string, { hasMark, lineBreak, charset }: TextForm): Blob {
  const broken = lineBreak === '\n' ? text : text.replaceAll('\n', lineBreak)
  return new Blob([hasMark && charset === 'utf-8' ? '\ufeff' : '', broken], { type: 'text/plain' })
}
