import type { LiveMessage } from './live-viewer.ts'

// Limit of unsent bytes. A client that does not read gets a reset instead of more events.
const MAX_BYTES = 256 * 1024

/** A text for the client, and its event; without one for messages about the stream itself. */
export interface WaitingText {
  readonly text: string
  readonly message: LiveMessage | undefined
}

interface StreamParts {
  readonly reset: (id: number) => string
  /**
   * Filters the texts by the current permissions; undefined once the credential is invalid. Called when the
   * client reads them, however long they waited.
   */
  readonly authorize: (texts: readonly WaitingText[]) => Promise<readonly WaitingText[] | undefined>
  readonly onEnd: (stream: LiveStream) => void
  readonly onError: (error: unknown) => void
}

/** Queue of texts for one client, read on demand (backpressure). */
export class LiveStream {
  /** All events up to this number were queued, or do not concern the client. */
  lastId = 0
  /** While missed events are read from the log, new ones are not queued. */
  catchingUp = true
  /** The newest event that was not queued for this reason. */
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

  /** Queues a text. If the queue is full, a reset replaces all of it. */
  push(text: string, message?: LiveMessage): void {
    if (this.#ended) return
    if (this.#bytes + text.length > MAX_BYTES) return this.reset(this.lastId)
    this.#waiting.push({ text, message })
    this.#bytes += text.length
    this.#wake?.()
  }

  /** Tells the client that it missed events and must reload everything. It continues at `id`. */
  reset(id: number): void {
    if (this.#ended) return
    const text = this.#parts.reset(id)
    this.lastId = id
    this.#waiting = [{ text, message: undefined }]
    this.#bytes = text.length
    this.#wake?.()
  }

  /** Resolves once the client has read the whole queue, or is gone. */
  async taken(): Promise<void> {
    while (!this.isIdle && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#taken = resolve
      })
    }
  }

  /** Waits for the next bytes to send. */
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

  /** Discards the queue, because the client is gone or its credential is invalid. */
  cut(): void {
    this.#waiting = []
    this.#bytes = 0
    this.end()
  }

  async return(): Promise<void> {
    this.cut()
  }

  /** Ends the stream after the queued texts are sent. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#wake?.()
    this.#taken?.()
    this.#parts.onEnd(this)
  }

  /** Takes the whole queue. If the authorization fails, nothing is sent, and the client has to reconnect. */
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
