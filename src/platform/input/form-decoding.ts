import { isUtf8 } from 'node:buffer'

/**
 * Splits `a=1&b=2` (a query string or an urlencoded body, one character per byte) and calls back with each
 * decoded pair. Stops and returns false if there are more than `maxPairs`.
 */
export function decodePairs(
  text: string,
  maxPairs: number,
  take: (name: string, value: string) => void,
): boolean {
  let pairs = 0
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('&', start)
    if (end === -1) end = text.length
    if (end > start) {
      pairs += 1
      if (pairs > maxPairs) return false
      const pair = text.slice(start, end)
      const equals = pair.indexOf('=')
      if (equals === -1) take(decodeFormText(pair), '')
      else take(decodeFormText(pair.slice(0, equals)), decodeFormText(pair.slice(equals + 1)))
    }
    start = end + 1
  }
  return true
}

/**
 * Decodes one name or value exactly once: `+` is a space, `%41` is a byte. An invalid escape is kept
 * literally, because rclone sends passwords without escaping `%`.
 */
export function decodeFormText(text: string): string {
  return /[^\x21-\x24\x26-\x2a\x2c-\x7e]/.test(text) ? decodeUtf8(toBytes(text)) : text
}

/**
 * Decodes UTF-8 without throwing. An invalid byte becomes a lone surrogate, so that the result is ill-formed
 * and readers reject it as a file name.
 */
export function decodeUtf8(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : decodeDamaged(bytes)
}

function decodeDamaged(bytes: Buffer): string {
  // A UTF-8 sequence has at least as many bytes as UTF-16 units.
  const units = new Uint16Array(bytes.length)
  let written = 0
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at)
    const code = length === 0 ? 0xdc00 + (bytes[at] ?? 0) : codePointAt(bytes, at, length)
    if (code > 0xffff) units[written++] = 0xd7c0 + (code >> 10)
    units[written++] = code > 0xffff ? 0xdc00 + (code & 0x3ff) : code
    at += length || 1
  }
  return Buffer.from(units.buffer, 0, written * 2).toString('utf16le')
}

function toBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length)
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const escaped = code === 0x25 ? hexPair(text.charCodeAt(at + 1), text.charCodeAt(at + 2)) : -1
    if (escaped >= 0) at += 2
    bytes[length++] = escaped >= 0 ? escaped : code === 0x2b ? 0x20 : code
  }
  return bytes.subarray(0, length)
}

function hexPair(high: number, low: number): number {
  const value = hexDigit(high) * 16 + hexDigit(low)
  return Number.isNaN(value) ? -1 : value
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : Number.NaN
}

/**
 * Length of the well-formed UTF-8 sequence at `at`, or 0. Follows the table of the Unicode standard row by
 * row.
 */
function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0
  const second = bytes[at + 1] ?? 0
  if (lead < 0x80) return 1
  if (lead < 0xc2 || lead > 0xf4 || !continues(second)) return 0
  if (lead < 0xe0) return 2
  if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f)) return 0
  if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return 0
  if (!continues(bytes[at + 2] ?? 0)) return 0
  if (lead < 0xf0) return 3
  return continues(bytes[at + 3] ?? 0) ? 4 : 0
}

function continues(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

function codePointAt(bytes: Buffer, at: number, length: number): number {
  const lead = bytes[at] ?? 0
  let code = length === 1 ? lead : lead & (0xff >> (length + 1))
  for (let next = 1; next < length; next += 1) code = (code << 6) | ((bytes[at + next] ?? 0) & 0x3f)
  return code
}
