import { isUtf8 } from 'node:buffer'

/** Why a text from outside is not taken as JSON. */
export class JsonRefused extends Error {
  override name = 'JsonRefused'
}

export interface JsonLimits {
  /** Levels of arrays and objects. */
  readonly depth?: number
  /** Values and names in all: parsed, `{}` takes twenty times its bytes. */
  readonly values?: number
}

/** Parsing what is nested without end would hold up everybody (I10). */
const MOST_LEVELS = 100
const MOST_VALUES = 200_000

/**
 * The one way to parse JSON that comes from outside. Depth and number of values are checked first, at a small part of
 * what parsing would cost. Throws JsonRefused.
 */
export function parseOutsideJson(source: Buffer | string, limits: JsonLimits = {}): unknown {
  const { depth = MOST_LEVELS, values = MOST_VALUES } = limits
  if (typeof source !== 'string' && !isUtf8(source)) throw new JsonRefused('the text is not UTF-8')
  const reason =
    typeof source === 'string' ? excessOfText(source, depth, values) : excess(source, depth, values)
  if (reason !== undefined) throw new JsonRefused(reason)
  try {
    return JSON.parse(source.toString())
  } catch (error) {
    throw new JsonRefused(error instanceof Error ? error.message : 'not JSON', { cause: error })
  }
}

const TOO_DEEP = 'the value is nested too deeply'
const TOO_MANY = 'there are too many values'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a

function excess(bytes: Buffer, levels: number, most: number): string | undefined {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === COMMA || byte === COLON) values += 1
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1
      values += 1
      if (depth > levels) return TOO_DEEP
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1
    if (values > most) return TOO_MANY
  }
  return undefined
}

/** A short text is not worth counting; a long one is counted as bytes, where strings are skipped faster. */
function excessOfText(text: string, levels: number, most: number): string | undefined {
  return text.length <= levels ? undefined : excess(Buffer.from(text, 'utf8'), levels, most)
}

/** Where the quote is that ends the string which starts at `from`. */
function endOfString(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === 0x5c) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return bytes.length
}
