import { JsonRefused, parseOutsideJson } from '../json.ts'
import { InvalidObject } from './invalid.ts'

/** A JSON object of which nothing is known yet. */
export type Json = Readonly<Record<string, unknown>>

/** A dir of 400,000 entries has six fields each; an object is nested three levels deep. */
const LIMITS = { depth: 10, values: 10_000_000 }

/** The JSON object in bytes or text that came from outside. */
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

/** Text that both databases can hold and that survives the way to UTF-8 and back. */
export function asText(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new InvalidObject(`${what} is not a string`)
  if (value.includes('\0') || !value.isWellFormed()) throw new InvalidObject(`${what} is not clean text`)
  return value
}

/** Text that `parse` makes an id of. */
export function asId<T extends string>(
  value: unknown,
  what: string,
  parse: (text: string) => T | undefined,
): T {
  const id = typeof value === 'string' ? parse(value) : undefined
  if (id === undefined) throw new InvalidObject(`${what} is not a valid id`)
  return id
}
