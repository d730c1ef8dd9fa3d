const numbers = /\{n(?:([+%])(\d+))?\}/g
const DIGITS = 8

/** A text with its numbers in place for request `n`. */
export function withNumber(text: string, n: number): string {
  return text.replace(numbers, (_, operator?: string, operand?: string) =>
    digits(applied(n, operator, Number(operand))),
  )
}

/**
 * A request of which only the numbers change: `{n}` is the number of the request, `{n+1}` the one after
 * it, `{n%100}` its rest. All have eight digits, so the length never changes and the bytes are reused.
 */
export class RequestTemplate {
  readonly #bytes: Buffer
  readonly #slots: { at: number; operator: string | undefined; operand: number }[] = []

  constructor(text: string) {
    this.#bytes = Buffer.from(withNumber(text, 0), 'latin1')
    let shift = 0
    for (const match of text.matchAll(numbers)) {
      this.#slots.push({ at: match.index + shift, operator: match[1], operand: Number(match[2]) })
      shift += DIGITS - match[0].length
    }
  }

  /** The bytes of request `n`, good until the next call. */
  fill(n: number): Buffer {
    for (const { at, operator, operand } of this.#slots) {
      this.#bytes.write(digits(applied(n, operator, operand)), at, DIGITS, 'latin1')
    }
    return this.#bytes
  }
}

/** A number as it stands in a request. */
export function digits(n: number): string {
  return String(n).padStart(DIGITS, '0')
}

function applied(n: number, operator: string | undefined, operand: number): number {
  if (operator === '+') return n + operand
  return operator === '%' ? n % operand : n
}
