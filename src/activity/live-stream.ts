import type { LiveMessage } from './live-viewer.ts'

// What a client that does not read may have waiting for it; a laggard is told to look at everything anew.
const MOST_BYTES = 256 * 1024

/** A text for the client, and the event it was made of; none for what only speaks of the stream itself. */
export interface WaitingText {
  readonly text: string
  readonly message: LiveMessage | undefined
}

export interface StreamParts {
  readonly reset: (id: number) => string
  /**
   * Those of the texts that the client may have now; undefined once its credential has ended. It is asked when the client
   * takes them, however long they waited.
   */
  readonly authorize: (texts: readonly WaitingText[]) => Promise<readonly WaitingText[] | undefined>
  readonly onEnd: (stream: LiveStream) => void
  readonly onError: (error: unknown) => void
}

/** What one client is sent, as it takes it: texts wait here until they are asked for. */
export class LiveStream {
  /** All up to this number was pushed, or is of no concern to the client. */
  lastId = 0
  /** While it is given what it missed, what happens meanwhile is left to the log. */
  catchingUp = true
  /** The newest that was left to the log. */
  leftOut = 0
  readonly #parts: StreamParts
  #waiting: WaitingText[] = []
  #bytes = 0
  #ended = false
  #wake: (() => void) | undefined
  #taken: (() => void) | undefined

  constructor(parts: StreamParts) {
    this.#parts = parts
  }

  get isEnded(): boolean {
    return this.#ended
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0
  }

  /** Puts a text in line; if there is too much already, all of it gives way to a reset. */
  push(text: string, message?: LiveMessage): void {
    if (this.#ended) return
    if (this.#bytes + text.length > MOST_BYTES) return this.reset(this.lastId)
    this.#waiting.push({ text, message })
    this.#bytes += text.length
    this.#wake?.()
  }

  /** The client has missed something: it goes on at `id`, and must look at everything anew. */
  reset(id: number): void {
    if (this.#ended) return
    const text = this.#parts.reset(id)
    this.lastId = id
    this.#waiting = [{ text, message: undefined }]
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
    for (;;) {
      while (this.isIdle && !this.#ended) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        this.#wake = undefined
      }
      if (this.isIdle) return { done: true, value: undefined }
      const value = (await this.#takeAuthorized()).join('')
      if (value !== '') return { done: false, value: Buffer.from(value) }
    }
  }

  /** The client is gone, or its credential is: nothing that waits is sent. */
  cut(): void {
    this.#waiting = []
    this.#bytes = 0
    this.end()
  }

  async return(): Promise<void> {
    this.cut()
  }

  /** What waits is still sent, and nothing more. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#wake?.()
    this.#taken?.()
    this.#parts.onEnd(this)
  }

  /** Takes all that waits. Without an answer about the right, nothing is sent: the client has to come back. */
  async #takeAuthorized(): Promise<string[]> {
    const batch = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    this.#taken?.()
    try {
      const allowed = await this.#parts.authorize(batch)
      if (allowed !== undefined) return allowed.map(({ text }) => text)
    } catch (error) {
      this.#parts.onError(error)
    }
    this.cut()
    return []
  }
}
