import type { Fields } from './fields.ts'
import { errorMessage } from './refusal.ts'

/**
 * Turns what was sent under a name into a value, or throws a `Refusal`. Any function of this shape is one; the
 * `length` all functions have is there because TypeScript puts off inferring from generic calls that give a bare
 * function type, and a route's handler would find no types in `query: { n: optional(integer()) }`.
 */
export type Reader<T> = ((fields: Fields, name: string) => T) & { readonly length: number }

/** What a route reads, by wire name. */
export type Readers = Readonly<Record<string, Reader<unknown>>>

/** The values a record of readers gives. */
export type Values<R extends Readers> = { readonly [K in keyof R]: ReturnType<R[K]> }

/** Refuses with 400 and `message`, or "<name> invalid." */
export function refuse(name: string, message?: string): never {
  throw errorMessage(400, message ?? `${name} invalid.`)
}

/** Text, empty when nothing was sent. */
export function text(message?: string): Reader<string> {
  return (fields, name) => sentText(fields, name, message) ?? ''
}

/** Text, undefined when nothing was sent. */
export function optionalText(message?: string): Reader<string | undefined> {
  return (fields, name) => sentText(fields, name, message)
}

/** Text that must be sent and must not be empty. */
export function required(message?: string): Reader<string> {
  return (fields, name) => sentText(fields, name, message) || refuse(name, message)
}

/** Text exactly as sent, even with NUL or ill-formed characters: for paths, which have rules of their own. */
export function rawText(): Reader<string | undefined> {
  return (fields, name) => fields.text(name)
}

/** The JSON value (or file part) as sent, unknown until `map` has parsed it. */
export function rawValue(): Reader<unknown> {
  return (fields, name) => fields.raw(name)
}

/** Every text sent under the name, none when nothing was; `nonEmpty` refuses none. */
export function list(options: { message?: string; nonEmpty?: boolean } = {}): Reader<string[]> {
  const { message, nonEmpty = false } = options
  return (fields, name) => {
    const values = fields.all(name)
    const sent = fields.raw(name)
    // A value that is no text must not vanish from the list: the caller would act on the rest.
    if (Array.isArray(sent) ? sent.length !== values.length : fields.has(name) && values.length === 0) {
      refuse(name, message)
    }
    if ((nonEmpty && values.length === 0) || !values.every(isPlain)) refuse(name, message)
    return values
  }
}

interface ScalarOptions<T> {
  /** What nothing sent, or an empty text, means. */
  default?: T
  message?: string
  /** What cannot be read counts as nothing sent, instead of being refused. Needs a default. */
  lenient?: boolean
}

/** `t`, `true`, `1` or `f`, `false`, `0` in any case; false when nothing was sent, unless `default` says otherwise. */
export function flag(options: ScalarOptions<boolean> = {}): Reader<boolean> {
  return scalar({ default: false, ...options }, toBoolean)
}

/** A whole number between `min` and `max`. */
export function integer(
  options: ScalarOptions<number> & { min?: number; max?: number } = {},
): Reader<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = options
  return scalar(options, (sent) => {
    const value = /^[+-]?\d{1,16}$/.test(sent) ? Number(sent) : Number.NaN
    return value >= min && value <= max ? value : undefined
  })
}

/** One of a few words; a plain text in place of the options is the message. */
export function oneOf<const T extends string>(
  values: readonly T[],
  options: string | ScalarOptions<NoInfer<T>> = {},
): Reader<T> {
  return scalar(typeof options === 'string' ? { message: options } : options, (sent) =>
    values.find((value) => value === sent),
  )
}

/** Undefined when nothing was sent, else what `reader` reads. */
export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return (fields, name) => (fields.has(name) ? reader(fields, name) : undefined)
}

/** What `reader` reads, made into something else; `parse` gives undefined for what is to be refused. */
export function map<T, U>(
  reader: Reader<T>,
  parse: (value: T) => U | undefined,
  message?: string,
): Reader<U> {
  return (fields, name) => parse(reader(fields, name)) ?? refuse(name, message)
}

function scalar<T>(options: ScalarOptions<T>, parse: (sent: string) => T | undefined): Reader<T> {
  const { default: otherwise, message, lenient = false } = options
  return (fields, name) => {
    const sent = fields.text(name)
    const missing = sent === undefined ? !fields.has(name) : sent === ''
    const value = missing || sent === undefined ? undefined : parse(sent)
    return value ?? (missing || lenient ? otherwise : undefined) ?? refuse(name, message)
  }
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

/** Text that can be stored and shown: no NUL, and no half characters. */
function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
