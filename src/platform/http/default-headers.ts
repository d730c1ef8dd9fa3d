import type { ResponseHeaders } from '../responses/index.ts'
import type { FlatHeaders } from './transport.ts'

/**
 * The default headers of the responses of a surface, without those that a response overrides. Handlers override few combinations, so a list is made
 * once for each, and transports may cache what they make of it.
 */
export class DefaultHeaders {
  readonly #values: readonly (readonly [name: string, value: string])[]
  /** A bit for each name. */
  readonly #bits = new Map<string, number>()
  /** By the bits of the names that are overridden. */
  readonly #lists = new Map<number, FlatHeaders>()

  constructor(headers: Readonly<Record<string, string>>) {
    this.#values = Object.entries(headers)
    this.#values.forEach(([name], at) => this.#bits.set(name, 2 ** at))
  }

  /** The same list for all responses that override the same names. */
  without(overriding: ResponseHeaders): FlatHeaders {
    let overridden = 0
    for (const name in overriding) overridden += this.#bits.get(name) ?? 0
    const known = this.#lists.get(overridden)
    if (known !== undefined) return known
    const left = this.#values.filter(([name]) => !(name in overriding)).flat()
    this.#lists.set(overridden, left)
    return left
  }
}
