import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { LongBody } from './long-body.ts'
import { ClientGone } from './request.ts'
import { noteReceived } from './young-garbage.ts'

/** A body, of a request as far as it is one. */
type Body = Readable & Partial<Pick<IncomingMessage, 'complete' | 'headers'>>

/**
 * The bytes of a body, one chunk at a time and only when asked for, so that a slow reader slows the sender. Unlike
 * iterating over the stream, stopping early leaves the connection open: an answer still has to go out on it.
 */
export class BodyChunks {
  readonly #body: Body
  readonly #long: LongBody | undefined
  readonly #onChunk: ((chunk: Buffer) => void) | undefined
  #wake: (() => void) | undefined
  #isListening = false
  /** Bytes still to come, of a body that said how long it is. */
  #left: number | undefined
  #gone = false

  /** `onChunk` sees every byte in order; what it throws ends the reading. */
  constructor(body: Body, onChunk?: (chunk: Buffer) => void) {
    this.#body = body
    this.#long = LongBody.of(body)
    const length = body.headers?.['content-length']
    if (length !== undefined) this.#left = Number(length)
    this.#onChunk = onChunk
  }

  /**
   * The next bytes, undefined at the end; not a promise if they are there. Throws ClientGone if the sender left in the
   * middle. Bytes that are lent may change with the next call.
   */
  read(lend = false): Buffer | undefined | Promise<Buffer | undefined> {
    const chunk = this.#take(lend)
    if (chunk !== undefined) return chunk
    return this.#isEnded ? undefined : this.#readWhenThere(lend)
  }

  /** Lets go of the stream as it is; what is left of it can be dropped by whoever answers. */
  release(): void {
    if (!this.#isListening) return
    this.#body.off('readable', this.#onChange)
    this.#body.off('end', this.#onChange)
    this.#body.off('close', this.#onClose)
  }

  async #readWhenThere(lend: boolean): Promise<Buffer | undefined> {
    this.#listen()
    for (;;) {
      if (this.#gone || this.#body.destroyed) throw new ClientGone()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      const chunk = this.#take(lend)
      if (chunk !== undefined) return chunk
      if (this.#isEnded) return undefined
    }
  }

  // A short body is there before anybody listens, and nobody has to. A request whose errors nobody listens for has none.
  #listen(): void {
    if (this.#isListening) return
    this.#isListening = true
    this.#body.on('readable', this.#onChange)
    this.#body.on('end', this.#onChange)
    this.#body.on('close', this.#onClose)
    this.#body.on('error', this.#onClose)
  }

  #take(lend: boolean): Buffer | undefined {
    const chunk = this.#long === undefined ? (this.#body.read() as Buffer | null) : this.#long.read(lend)
    if (chunk === null) return undefined
    if (this.#long === undefined) noteReceived(chunk.length)
    if (this.#left !== undefined) this.#left -= chunk.length
    this.#onChunk?.(chunk)
    return chunk
  }

  // A message that came to its end has nothing more to give, though its stream says so only later.
  get #isEnded(): boolean {
    const { complete, readableEnded, readableLength } = this.#body
    return readableEnded || this.#left === 0 || (complete === true && readableLength === 0)
  }

  readonly #onChange = (): void => {
    this.#wake?.()
  }

  // Stays attached as the listener for errors: a reset after the reading ended concerns nobody.
  readonly #onClose = (): void => {
    this.#gone = true
    this.#wake?.()
  }
}
