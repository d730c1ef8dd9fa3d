import { JsonRefused, parseOutsideJson } from '../json.ts'

/** Bytes or text that are not a valid object. The message has the reason. */
export class InvalidObject extends Error {
  override name = 'InvalidObject'
}

/** A JSON object that was not validated yet. */
export type Json = Readonly<Record<string, unknown>>

/** Enough for a dir of 400,000 entries with six fields each. Objects have three levels. */
const LIMITS = { depth: 10, values: 10_000_000 }

/** Parses untrusted bytes or text as a JSON object. */
export function parseJson(source: Buffer | string): Json {
  return asObject(parsed(source), 'the object')
}

function parsed(source: Buffer | string): unknown {
  try {
    return parseOutsideJson(source, LIMITS)
  } catch (cause) {
    if (cause instanceof JsonRefused)
      throw new InvalidObject(`is not JSON we take: ${cause.message}`, { cause })
    throw cause
  }
}

export function asObject(value: unknown, what: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidObject(`${what} is not a JSON object`)
  }
  return value as Json
}

export function asArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new InvalidObject(`${what} is not a JSON array`)
  return value
}

export function asInteger(
  value: unknown,
  what: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (!Number.isSafeInteger(value)) throw new InvalidObject(`${what} is not a safe integer`)
  const number = value as number
  if (number < least || number > most) throw new InvalidObject(`${what} is out of range`)
  return number
}

/** Text that both databases can store and that survives a round trip through UTF-8. */
export function asText(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new InvalidObject(`${what} is not a string`)
  if (value.includes('\0') || !value.isWellFormed()) throw new InvalidObject(`${what} is not clean text`)
  return value
}

/** Text that `parse` accepts as an id. */
export function asId<T extends string>(
  value: unknown,
  what: string,
  parse: (text: string) => T | undefined,
): T {
  const id = typeof value === 'string' ? parse(value) : undefined
  if (id === undefined) throw new InvalidObject(`${what} is not a valid id`)
  return id
}
