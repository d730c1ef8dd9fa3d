import { decodePairs } from './form-decoding.ts'

/** A file sent in a multipart body. */
export interface FilePart {
  readonly filename: string
  readonly contentType: string | undefined
  readonly bytes: Buffer
}

/** Maximum number of fields in a body. A batch call names 10,000 files. */
export const maxFields = 20_000

/**
 * The named values of a query string or a body in any encoding. Names are plain text: `__proto__` has no
 * special meaning.
 */
export class Fields {
  static readonly none = new Fields(new Map())

  readonly #values: ReadonlyMap<string, unknown>
  /** The whole JSON value of a JSON body, which may be an array; undefined for any other encoding. */
  readonly json: unknown

  constructor(values: ReadonlyMap<string, unknown>, json?: unknown) {
    this.#values = values
    this.json = json
  }

  /** From plain values, as in path segments. */
  static of(values: Readonly<Record<string, unknown>>): Fields {
    const own = new Map<string, unknown>()
    for (const name in values) own.set(name, values[name])
    return new Fields(own)
  }

  /** From a query string without its `?`, one character per byte, as Node provides it. */
  static fromQuery(text: string): Fields {
    return text === '' ? Fields.none : (Fields.#fromPairs(text) ?? Fields.none)
  }

  /** From an urlencoded body; undefined if it has more than `maxFields` names. */
  static fromForm(bytes: Buffer): Fields | undefined {
    return Fields.#fromPairs(bytes.toString('latin1'))
  }

  /** From a parsed JSON body. An array has no names; it is available as `json`. */
  static fromJson(value: object): Fields {
    return new Fields(new Map(Array.isArray(value) ? [] : Object.entries(value)), value)
  }

  /** From the parts of a multipart body, in order. */
  static fromParts(parts: Iterable<readonly [name: string, value: string | FilePart]>): Fields {
    const values = new Map<string, unknown>()
    for (const [name, value] of parts) append(values, name, value)
    return new Fields(values)
  }

  static #fromPairs(text: string): Fields | undefined {
    const values = new Map<string, unknown>()
    return decodePairs(text, maxFields, (name, value) => append(values, name, value))
      ? new Fields(values)
      : undefined
  }

  /** The last value sent under `name`, as text. JSON numbers and booleans are converted. */
  text(name: string): string | undefined {
    const value = this.#values.get(name)
    return toText(Array.isArray(value) ? value.at(-1) : value)
  }

  /** Every value sent under `name`, as text. A JSON array is equivalent to a repeated name. */
  all(name: string): string[] {
    const value = this.#values.get(name)
    const values: unknown[] = Array.isArray(value) ? value : [value]
    return values.map(toText).filter((text) => text !== undefined)
  }

  /** Whether a value was sent under `name`. Null and an empty array count as not sent. */
  has(name: string): boolean {
    const value = this.#values.get(name)
    return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  }

  /**
   * The value as sent: any JSON value; from a form a text or a `FilePart`, or an array of them if repeated.
   */
  raw(name: string): unknown {
    return this.#values.get(name)
  }

  names(): string[] {
    return [...this.#values.keys()]
  }
}

/** Repeated values are collected in arrays of our own, so that a JSON array is never appended to. */
function append(values: Map<string, unknown>, name: string, value: string | FilePart): void {
  const before = values.get(name)
  if (before === undefined) values.set(name, value)
  else if (Array.isArray(before)) before.push(value)
  else values.set(name, [before, value])
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
