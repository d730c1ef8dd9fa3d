import { isUtf8 } from 'node:buffer'

/** Untrusted text was rejected as JSON; the message says why. */
export class JsonRefused extends Error {
  override name = 'JsonRefused'
}

interface JsonLimits {
  /** Nesting levels. */
  readonly depth?: number
  /** Values and names in total: a parsed `{}` takes twenty times its bytes. */
  readonly values?: number
  /** Names of objects in total. */
  readonly names?: number
  /** Names that differ from each other. */
  readonly differentNames?: number
}

/** Parsing deeply nested text would block the event loop (I10). */
const MAX_LEVELS = 100
const MAX_VALUES = 200_000
/** A new name takes the parser 2 µs, twenty times a value: objects that name the same fields are what callers send. */
const MAX_DIFFERENT_NAMES = 2_000

/**
 * The only parser for untrusted JSON. Depth, values and names are checked first, at a fraction of the cost of parsing. Throws JsonRefused.
 */
export function parseOutsideJson(source: Buffer | string, limits: JsonLimits = {}): unknown {
  const { depth = MAX_LEVELS, values = MAX_VALUES, names = values } = limits
  const { differentNames = MAX_DIFFERENT_NAMES } = limits
  if (typeof source !== 'string' && !isUtf8(source)) throw new JsonRefused('the text is not UTF-8')
  // A text no longer than the depth limit is not scanned. Others are scanned as bytes, where strings are skipped faster.
  if (source.length > depth) {
    const bytes = typeof source === 'string' ? Buffer.from(source, 'utf8') : source
    const reason = excess(bytes, depth, values, names, differentNames)
    if (reason !== undefined) throw new JsonRefused(reason)
  }
  try {
    return JSON.parse(source.toString())
  } catch (error) {
    throw new JsonRefused(error instanceof Error ? error.message : 'not JSON', { cause: error })
  }
}

const TOO_DEEP = 'the value is nested too deeply'
const TOO_MANY = 'there are too many values'
const TOO_MANY_NAMES = 'there are too many names'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a

function excess(
  bytes: Buffer,
  levels: number,
  most: number,
  mostNames: number,
  mostDifferent: number,
): string | undefined {
  let depth = 0
  let names = 0
  let values = 1
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === COMMA) values += 1
    else if (byte === COLON) {
      values += 1
      names += 1
      if (names > mostNames) return TOO_MANY_NAMES
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1
      values += 1
      if (depth > levels) return TOO_DEEP
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1
    if (values > most) return TOO_MANY
  }
  return names > mostDifferent && hasDifferentNames(bytes, mostDifferent) ? TOO_MANY_NAMES : undefined
}

/** Whether text has more than `most` different names. The strings before colons are compared as they are written: an escape makes another one. */
function hasDifferentNames(bytes: Buffer, most: number): boolean {
  const seen = new Set<string>()
  /** By first, last and number of bytes, where the string was that was seen last: most names follow each other in the same order. */
  const starts = new Int32Array(256)
  const ends = new Int32Array(256)
  let start = 0
  let end = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      start = at + 1
      end = endOfString(bytes, at)
      at = end
    } else if (byte === COLON) {
      const length = end - start
      const slot = ((bytes[start] ?? 0) ^ ((bytes[end - 1] ?? 0) << 3) ^ (length << 5)) & 255
      const known = starts[slot] ?? 0
      if ((ends[slot] ?? 0) - known === length && isSame(bytes, known, start, length)) continue
      starts[slot] = start
      ends[slot] = end
      seen.add(bytes.toString('latin1', start, end))
      if (seen.size > most) return true
    }
  }
  return false
}

function isSame(bytes: Buffer, a: number, b: number, length: number): boolean {
  for (let at = 0; at < length; at += 1) if (bytes[a + at] !== bytes[b + at]) return false
  return true
}

/** Index of the quote that ends the string starting at `from`. */
function endOfString(bytes: Buffer, from: number): number {
  // A search is a call of native code, which costs more than an empty string.
  if (bytes[from + 1] === QUOTE) return from + 1
  for (let at = bytes.indexOf(QUOTE, from + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === 0x5c) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return bytes.length
}
