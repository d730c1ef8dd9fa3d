import { errorMessage } from '../responses/index.ts'
import type { Fields } from './fields.ts'

/**
 * Parses the value of a named field, or throws a `Refusal`. The `length`, which all functions have, is a
 * workaround: TypeScript defers inference from generic calls that return a bare function type, so a handler
 * would get no types from `query: { n: optional(integer()) }`.
 */
export type Reader<T> = ((fields: Fields, name: string) => T) & {
  readonly length: number
  /** For the API description. Without it, any text that need not be sent. */
  readonly accepts?: Accepted
}

/** The values that a reader accepts, in the terms of JSON Schema. A form sends all of them as text. */
export interface Accepted {
  readonly type: 'string' | 'integer' | 'boolean' | 'array' | 'object' | 'file'
  /** Of the items of an array. Default: `string`. */
  readonly items?: Accepted
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly default?: string | number | boolean
  /** Whether a request without it is refused. */
  readonly required?: boolean
  /** Whether a malformed value counts as not sent, instead of being refused. */
  readonly lenient?: boolean
  /** A sentence for the reference. */
  readonly description?: string
}

/** A reader with a description of what it accepts. */
export function accepting<T>(accepts: Accepted, read: (fields: Fields, name: string) => T): Reader<T> {
  return Object.assign(read, { accepts })
}

const anyText: Accepted = { type: 'string' }

/** The readers of a route by wire name. */
export type Readers = Readonly<Record<string, Reader<unknown>>>

/** The values of a record of readers. */
export type Values<R extends Readers> = { readonly [K in keyof R]: ReturnType<R[K]> }

/** Refuses with 400 and `message`, or "<name> invalid." */
export function refuse(name: string, message?: string): never {
  throw errorMessage(400, message ?? `${name} invalid.`)
}

/** Text; '' if it was not sent. */
export function text(message?: string): Reader<string> {
  return (fields, name) => sentText(fields, name, message) ?? ''
}

/** Text; undefined if it was not sent. */
export function optionalText(message?: string): Reader<string | undefined> {
  return (fields, name) => sentText(fields, name, message)
}

/** Text that is required and not empty. */
export function required(message?: string): Reader<string> {
  return accepting(
    { type: 'string', required: true },
    (fields, name) => sentText(fields, name, message) || refuse(name, message),
  )
}

/** Text exactly as sent, even with NUL or lone surrogates. For paths, which have rules of their own. */
export function rawText(): Reader<string | undefined> {
  return (fields, name) => fields.text(name)
}

/** The JSON value or file part as sent, to be parsed with `map`. */
export function rawValue(): Reader<unknown> {
  return (fields, name) => fields.raw(name)
}

/** All texts sent under the name. `nonEmpty` refuses an empty list. */
export function list(options: { message?: string; nonEmpty?: boolean } = {}): Reader<string[]> {
  const { message, nonEmpty = false } = options
  return accepting({ type: 'array', required: nonEmpty }, (fields, name) => {
    const values = fields.all(name)
    const sent = fields.raw(name)
    // A value that is not text must be refused. Otherwise the caller would act on the remaining ones.
    if (Array.isArray(sent) ? sent.length !== values.length : fields.has(name) && values.length === 0) {
      refuse(name, message)
    }
    if ((nonEmpty && values.length === 0) || !values.every(isPlain)) refuse(name, message)
    return values
  })
}

interface ScalarOptions<T> {
  /** The value if nothing or an empty text was sent. */
  default?: T
  message?: string
  /** Treats an invalid value as not sent, instead of refusing it. Needs a default. */
  lenient?: boolean
}

/** `t`, `true`, `1` or `f`, `false`, `0`, ignoring case. Default: false. */
export function flag(options: ScalarOptions<boolean> = {}): Reader<boolean> {
  return scalar({ type: 'boolean' }, { default: false, ...options }, toBoolean)
}

/** A whole number between `min` and `max`. */
export function integer(
  options: ScalarOptions<number> & { min?: number; max?: number } = {},
): Reader<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = options
  const accepts: Accepted = {
    type: 'integer',
    ...(options.min !== undefined && { minimum: options.min }),
    ...(options.max !== undefined && { maximum: options.max }),
  }
  return scalar(accepts, options, (sent) => {
    const value = /^[+-]?\d{1,16}$/.test(sent) ? Number(sent) : Number.NaN
    return value >= min && value <= max ? value : undefined
  })
}

/** One of a few words. A string instead of the options is the message. */
export function oneOf<const T extends string>(
  values: readonly T[],
  options: string | ScalarOptions<NoInfer<T>> = {},
): Reader<T> {
  const chosen: ScalarOptions<T> = typeof options === 'string' ? { message: options } : options
  return scalar({ type: 'string', enum: values }, chosen, (sent) => values.find((value) => value === sent))
}

/** Undefined if nothing was sent, else the value of `reader`. */
export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return accepting({ ...anyText, ...reader.accepts, required: false }, (fields, name) =>
    fields.has(name) ? reader(fields, name) : undefined,
  )
}

/** Converts the value of `reader`. If `parse` returns undefined, the value is refused. */
export function map<T, U>(
  reader: Reader<T>,
  parse: (value: T) => U | undefined,
  message?: string,
): Reader<U> {
  return accepting(
    reader.accepts ?? anyText,
    (fields, name) => parse(reader(fields, name)) ?? refuse(name, message),
  )
}

function scalar<T extends string | number | boolean>(
  accepts: Accepted,
  options: ScalarOptions<T>,
  parse: (sent: string) => T | undefined,
): Reader<T> {
  const { default: otherwise, message, lenient = false } = options
  const described = otherwise === undefined ? { required: true } : { default: otherwise }
  return accepting({ ...accepts, ...described, ...(lenient && { lenient }) }, (fields, name) => {
    const sent = fields.text(name)
    const missing = sent === undefined ? !fields.has(name) : sent === ''
    const value = missing || sent === undefined ? undefined : parse(sent)
    return value ?? (missing || lenient ? otherwise : undefined) ?? refuse(name, message)
  })
}

function toBoolean(sent: string): boolean | undefined {
  const word = sent.toLowerCase()
  if (word === 'true' || word === 't' || word === '1') return true
  return word === 'false' || word === 'f' || word === '0' ? false : undefined
}

function sentText(fields: Fields, name: string, message?: string): string | undefined {
  const sent = fields.text(name)
  if (sent === undefined ? fields.has(name) : !isPlain(sent)) refuse(name, message)
  return sent
}

/** Whether text can be stored and shown: no NUL, no lone surrogates. */
function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
