import { createHash, type Hash } from 'node:crypto'

const numbers = /\{n((?:[+*%]\d+)*)\}/g
const DIGITS = 8
/** Placeholder for the SHA-1 of the request's body. */
export const BODY_SHA1 = '{sha1}'

/** Replaces the number placeholders of a text for request `n`. */
export function withNumber(text: string, n: number): string {
  return text.replace(numbers, (_, sums: string) => digits(applied(n, parseSteps(sums))))
}

/**
 * A request with number placeholders: `{n}` is the number of the request, `{n+1}` its successor, `{n%100}` the
 * remainder, `{n%100*4096}` a multiple of that (operators apply from left to right). All have eight digits, so the length
 * is constant and the buffer is reused. `{sha1}`, once before the body, is the hash of the body, or of another text with such placeholders.
 */
export class RequestTemplate {
  readonly #bytes: Buffer
  readonly #placeholders: { at: number; steps: readonly Step[] }[] = []
  /** Position of the body's hash, the hash state of its constant prefix, and where the body starts to vary. */
  readonly #hash: { at: number; before: Hash; changing: number } | undefined

  /** The other text, and the position of its hash. */
  readonly #other: { at: number; text: RequestTemplate } | undefined

  constructor(template: string, hashed?: string) {
    const text = template.replace(BODY_SHA1, '0'.repeat(40))
    this.#bytes = Buffer.from(withNumber(text, 0), 'latin1')
    const at = withNumber(template, 0).indexOf(BODY_SHA1)
    const body = this.#bytes.indexOf('\r\n\r\n') + 4
    let shift = 0
    for (const match of text.matchAll(numbers)) {
      this.#placeholders.push({ at: match.index + shift, steps: parseSteps(match[1] ?? '') })
      shift += DIGITS - match[0].length
    }
    if (hashed !== undefined) this.#other = { at, text: new RequestTemplate(hashed) }
    if (at < 0 || at >= body || hashed !== undefined) return
    const changing =
      this.#placeholders.find((placeholder) => placeholder.at >= body)?.at ?? this.#bytes.length
    this.#hash = { at, before: createHash('sha1').update(this.#bytes.subarray(body, changing)), changing }
  }

  /** The bytes of request `n`, valid until the next call. */
  fill(n: number): Buffer {
    for (const { at, steps } of this.#placeholders) {
      this.#bytes.write(digits(applied(n, steps)), at, DIGITS, 'latin1')
    }
    if (this.#other !== undefined) {
      const { at, text } = this.#other
      this.#bytes.write(createHash('sha1').update(text.fill(n)).digest('hex'), at, 40, 'latin1')
    }
    if (this.#hash !== undefined) {
      const { at, before, changing } = this.#hash
      const hash = before.copy().update(this.#bytes.subarray(changing))
      this.#bytes.write(hash.digest('hex'), at, 40, 'latin1')
    }
    return this.#bytes
  }
}

/** A number in the format of the placeholders. */
export function digits(n: number): string {
  return String(n).padStart(DIGITS, '0')
}

interface Step {
  readonly operator: string
  readonly operand: number
}

function parseSteps(text: string): Step[] {
  return [...text.matchAll(/([+*%])(\d+)/g)].map(([, operator = '', operand]) => ({
    operator,
    operand: Number(operand),
  }))
}

function applied(n: number, steps: readonly Step[]): number {
  let value = n
  for (const { operator, operand } of steps) {
    if (operator === '+') value += operand
    else if (operator === '*') value *= operand
    else value %= operand
  }
  return value
}
