/** Thrown to stop a reader when the text has reached its maximum length. */
export class TextFull extends Error {
  override readonly name = 'TextFull'
}

/** Collects the text a reader finds, up to a length. */
export class TextSink {
  readonly #limit: number
  readonly #pieces: string[] = []
  #length = 0
  /** Set by readers that omitted something. */
  truncated = false

  constructor(limit: number) {
    this.#limit = limit
  }

  get room(): number {
    return this.#limit - this.#length
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** Throws `TextFull` if `text` exceeds the limit. */
  add(text: string): void {
    const fitting = text.length <= this.room ? text : text.slice(0, this.room)
    if (fitting !== '') this.#pieces.push(fitting)
    this.#length += fitting.length
    if (fitting.length === text.length) return
    this.truncated = true
    throw new TextFull()
  }

  /** Ends the line, if there is one. */
  endLine(): void {
    const last = this.#pieces.at(-1)
    if (last !== undefined && !last.endsWith('\n')) this.add('\n')
  }

  /** The text without what no database or page could hold: NUL and halves of surrogate pairs. */
  toString(): string {
    return this.#pieces.join('').replaceAll('\0', '').toWellFormed()
  }
}

/** Removes trailing blanks and repeated empty lines. */
export function tidy(text: string): string {
  return text
    .replace(/[^\S\n]+/g, (blanks) => (blanks.includes('\t') ? '\t' : ' '))
    .replace(/[ \t]?\n(?:[ \t]?\n)+/g, '\n\n')
    .replace(/[ \t]?\n[ \t]?/g, '\n')
    .trim()
}
