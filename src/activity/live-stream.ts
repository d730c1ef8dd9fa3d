// What a client that does not read may have waiting for it; a laggard is told to look at everything anew.
const MOST_BYTES = 256 * 1024

/** What one client is sent, as it takes it: texts wait here until they are asked for. */
export class LiveStream {
  /** All up to this number was pushed, or is of no concern to the client. */
  lastId = 0
  /** While it is given what it missed, what happens meanwhile is left to the log. */
  catchingUp = true
  /** The newest that was left to the log. */
  leftOut = 0
  readonly #reset: (id: number) => string
  readonly #onEnd: (stream: LiveStream) => void
  #waiting: string[] = []
  #bytes = 0
  #ended = false
  #wake: (() => void) | undefined
  #taken: (() => void) | undefined

  constructor(reset: (id: number) => string, onEnd: (stream: LiveStream) => void) {
    this.#reset = reset
    this.#onEnd = onEnd
  }

  get isEnded(): boolean {
    return this.#ended
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0
  }

  /** Puts a text in line; if there is too much already, all of it gives way to a reset. */
  push(text: string): void {
    if (this.#ended) return
    if (this.#bytes + text.length > MOST_BYTES) return this.reset(this.lastId)
    this.#waiting.push(text)
    this.#bytes += text.length
    this.#wake?.()
  }

  /** The client has missed something: it goes on at `id`, and must look at everything anew. */
  reset(id: number): void {
    if (this.#ended) return
    const text = this.#reset(id)
    this.lastId = id
    this.#waiting = [text]
    this.#bytes = text.length
    this.#wake?.()
  }

  /** Resolves once the client has taken all that waits, or is gone. */
  async taken(): Promise<void> {
    while (!this.isIdle && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#taken = resolve
      })
    }
  }

  /** The next bytes to send, when there are any. */
  async next(): Promise<IteratorResult<Buffer, void>> {
    while (this.isIdle && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = undefined
    }
    if (this.isIdle) return { done: true, value: undefined }
    const value = Buffer.from(this.#waiting.join(''))
    this.#waiting = []
    this.#bytes = 0
    this.#taken?.()
    return { done: false, value }
  }

  /** The client is gone. */
  async return(): Promise<void> {
    this.#waiting = []
    this.end()
  }

  /** What waits is still sent, and nothing more. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#wake?.()
    this.#taken?.()
    this.#onEnd(this)
  }
}
