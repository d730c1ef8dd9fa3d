import { guessLegacyCharset } from './charset-guess.ts'

/** Decoded text and its charset. */
interface Decoded {
  readonly text: string
  readonly charset: string
}

interface Hints {
  /** Whether the bytes were cut, possibly within a character. */
  readonly cut?: boolean
  /** The declared charset. Used only if the bytes are valid in it. */
  readonly declared?: string | undefined
}

/** Sample size for charset detection, in bytes. */
const sampleBytes = 64 * 1024

const byteOrderMarks: readonly (readonly [mark: readonly number[], charset: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe, 0x00, 0x00], 'utf-32le'],
  [[0x00, 0x00, 0xfe, 0xff], 'utf-32be'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0x84, 0x31, 0x95, 0x33], 'gb18030'],
]

/** Decodes bytes in any charset; undefined if they are not text. */
export function decodeText(bytes: Uint8Array, hints: Hints = {}): Decoded | undefined {
  const marked = byteOrderMarks.find(([mark]) => mark.every((byte, index) => bytes[index] === byte))
  if (marked) return decodeAs(bytes.subarray(marked[0].length), marked[1])

  const sample = bytes.subarray(0, sampleBytes)
  const strange = countStrange(sample)
  if (strange > 0) {
    const wide = guessUtf16(sample)
    if (wide !== undefined) return decodeAs(bytes, wide)
    // A stray control character happens in logs. A NUL, or many of the others, does not happen in text.
    if (sample.includes(0) || strange > 1 + sample.length / 20) return undefined
  }
  if (isUtf8(bytes, hints.cut ?? false)) {
    const charset = isIso2022Jp(sample) ? 'iso-2022-jp' : 'utf-8'
    return decodeAs(bytes, charset)
  }
  const declared = hints.declared === undefined ? undefined : findCharset(hints.declared)
  if (declared !== undefined && !declared.startsWith('utf') && canDecode(sample, declared)) {
    return decodeAs(bytes, declared)
  }
  return decodeAs(bytes, guessLegacyCharset(bytes))
}

/** Decodes bytes in a known charset; invalid bytes become U+FFFD. */
export function decodeAs(bytes: Uint8Array, charset: string): Decoded {
  const text = charset.startsWith('utf-32')
    ? decodeUtf32(bytes, charset === 'utf-32le')
    : new TextDecoder(charset).decode(bytes)
  return { text, charset }
}

/** The charset a label means, as the Encoding Standard names them. */
export function findCharset(label: string): string | undefined {
  try {
    return new TextDecoder(label.trim()).encoding
  } catch {
    return undefined
  }
}

/** Whether the bytes are valid in this charset. A truncated character at the end is accepted. */
function canDecode(bytes: Uint8Array, charset: string): boolean {
  try {
    new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

function isUtf8(bytes: Uint8Array, cut: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
    return true
  } catch {
    return isAlmostUtf8(bytes)
  }
}

// Tolerates a few invalid bytes in long UTF-8 text. Legacy text never comes near this: to look like UTF-8, each
// of its letters would have to be followed by just the right number of symbols.
function isAlmostUtf8(bytes: Uint8Array): boolean {
  const text = new TextDecoder('utf-8').decode(bytes.subarray(0, sampleBytes))
  let broken = 0
  let beyondAscii = 0
  for (const character of text) {
    if (character === '\ufffd') broken += 1
    else if (character > '\x7f') beyondAscii += 1
  }
  return beyondAscii > 20 * broken
}

function isIso2022Jp(sample: Uint8Array): boolean {
  const start = Buffer.from(sample.buffer, sample.byteOffset, sample.length)
  return (start.includes('\x1b$B') || start.includes('\x1b$@')) && canDecode(sample, 'iso-2022-jp')
}

function countStrange(sample: Uint8Array): number {
  let strange = 0
  for (const byte of sample) {
    // Tab to carriage return, and escape, occur in normal text.
    if (byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32)) strange += 1
  }
  return strange
}

// Text in UTF-16 gives itself away: in one byte order nearly all of it is letters, blanks and punctuation, in the other
// it is scattered over scripts nobody mixes.
function guessUtf16(sample: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const even = sample.subarray(0, sample.length & ~1)
  if (even.length < 2) return undefined
  const little = plausibility(new TextDecoder('utf-16le').decode(even))
  const big = plausibility(new TextDecoder('utf-16be').decode(even))
  if (Math.max(little, big) < 0.9) return undefined
  return little >= big ? 'utf-16le' : 'utf-16be'
}

const everyday =
  /[\t\n\r\x20-\x7e\u00a0-\u024f\u0370-\u03ff\u0400-\u04ff\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u2010-\u203a\u20ac\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e]/
const common = /[\t\n\r \x2c-\x3aA-Za-z\u0370-\u06ff\u3001-\u30ff\uff0c]/

// The share of everyday characters, and a malus where none of the most common ones is among them: random bytes are
// ideographs one time in three.
function plausibility(text: string): number {
  let usual = 0
  let frequent = 0
  for (const character of text) {
    if (everyday.test(character)) usual += 1
    if (common.test(character)) frequent += 1
  }
  const share = usual / Math.max(1, text.length)
  return frequent * 50 < text.length ? share - 0.5 : share + (frequent / Math.max(1, text.length)) * 0.1
}

function decodeUtf32(bytes: Uint8Array, littleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const pieces: string[] = []
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, littleEndian)
    pieces.push(code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? '\ufffd' : String.fromCodePoint(code))
  }
  return pieces.join('')
}
