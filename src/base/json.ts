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
  /** Names of objects: different ones take the parser ten times as long as other values. */
  readonly names?: number
}

/** Parsing deeply nested text would block the event loop (I10). */
const MAX_LEVELS = 100
const MAX_VALUES = 200_000

/**
 * The only parser for untrusted JSON. Depth and number of values are checked first, at a fraction of the cost of parsing. Throws JsonRefused.
 */
export function parseOutsideJson(source: Buffer | string, limits: JsonLimits = {}): unknown {
  const { depth = MAX_LEVELS, values = MAX_VALUES, names = values } = limits
  if (typeof source !== 'string' && !isUtf8(source)) throw new JsonRefused('the text is not UTF-8')
  const reason =
    typeof source === 'string'
      ? excessOfText(source, depth, values, names)
      : excess(source, depth, values, names)
  if (reason !== undefined) throw new JsonRefused(reason)
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

function excess(bytes: Buffer, levels: number, most: number, mostNames: number): string | undefined {
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
  return undefined
}

/** A text no longer than the depth limit is not scanned. Others are scanned as bytes, where strings are skipped faster. */
function excessOfText(text: string, levels: number, most: number, mostNames: number): string | undefined {
  return text.length <= levels ? undefined : excess(Buffer.from(text, 'utf8'), levels, most, mostNames)
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
