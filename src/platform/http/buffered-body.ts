import { PieceQueue } from './piece-queue.ts'
import type { ReceiveMemory } from './receive-memory.ts'
import { ClientDisconnected } from './request.ts'
import type { RequestBody } from './transport.ts'

/** Buffered for a slow reader before the client has to wait (backpressure). */
const HIGH_WATER_MARK = 64 * 1024

export interface BufferedBodyOptions {
  /** Of `Content-Length`; undefined for a chunked body. */
  readonly length: number | undefined
  readonly memory?: ReceiveMemory | undefined
  /** Sends `100 Continue`, if the client waits for it. */
  readonly sendContinue?: (() => void) | undefined
}

/** The part of a request body that both transports share: buffering, backpressure, failure and the minimum rate. */
export abstract class BufferedBody implements RequestBody {
  readonly length: number | undefined
  protected readonly pieces = new PieceQueue()
  /** Bytes received. */
  protected received = 0
  readonly #memory: ReceiveMemory | undefined
  #sendContinue: (() => void) | undefined
  #isGone = false
  #isDiscarded = false
  #wake: (() => void) | undefined
  #failure: Error | undefined
  /** Start of the current window of the minimum rate, and `received` at that time. */
  #windowStart: number | undefined
  #windowReceived = 0

  constructor({ length, memory, sendContinue }: BufferedBodyOptions) {
    this.length = length
    this.#memory = memory
    this.#sendContinue = sendContinue
  }

  /** Whether the last byte has arrived, read or not. */
  abstract get isComplete(): boolean
  protected abstract pauseSource(): void
  protected abstract resumeSource(): void

  /** Whether the client still waits for `100 Continue`. */
  get awaitsContinue(): boolean {
    return this.#sendContinue !== undefined && !this.isComplete
  }

  /** Whether the client sent fewer bytes a second than `leastRate` for `windowMs` while they were waited for. */
  isSlow(now: number, leastRate: number, windowMs: number): boolean {
    if (this.isComplete || (this.#wake === undefined && !this.#isDiscarded)) {
      this.#windowStart = undefined
      return false
    }
    const least = (leastRate * windowMs) / 1000
    if (this.#windowStart === undefined || this.received - this.#windowReceived >= least) {
      this.#windowStart = now
      this.#windowReceived = this.received
    }
    return now - this.#windowStart > windowMs
  }

  read(borrow = false): Buffer | undefined | Promise<Buffer | undefined> {
    const piece = this.take(borrow)
    if (piece !== undefined) return piece
    return this.isComplete ? undefined : this.#readLater(borrow)
  }

  takeWhole(): Buffer | undefined {
    if (!this.isComplete || this.pieces.length !== 1 || this.pieces.bytes !== this.length) return undefined
    return this.take(false)
  }

  /** The connection is closed. */
  abort(): void {
    // Buffered bytes can still be read, but are no longer counted: nobody may ever read them.
    this.#account(-this.pieces.bytes)
    this.#isGone = true
    this.wakeReader()
  }

  fail(error: Error): boolean {
    if (this.#wake === undefined) return false
    this.#failure = error
    this.wakeReader()
    return true
  }

  /** Discards what is buffered and what still arrives. */
  discard(): void {
    this.#isDiscarded = true
    this.#account(-this.pieces.bytes)
    this.pieces.clear()
    this.resumeSource()
  }

  protected add(piece: Buffer): void {
    if (piece.length === 0) return
    this.received += piece.length
    if (this.#isDiscarded) return
    this.pieces.push(piece)
    this.#account(piece.length)
    if (this.#wake !== undefined) this.wakeReader()
    else if (!this.isComplete && (this.pieces.bytes >= HIGH_WATER_MARK || this.#memory?.isScarce)) {
      this.pauseSource()
    }
  }

  /** The next buffered bytes. */
  protected take(_borrow: boolean): Buffer | undefined {
    const piece = this.pieces.shift()
    if (piece !== undefined) this.#account(-piece.length)
    return piece
  }

  protected wakeReader(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  #account(bytes: number): void {
    if (!this.#isGone) this.#memory?.change(bytes)
  }

  async #readLater(borrow: boolean): Promise<Buffer | undefined> {
    this.#sendContinue?.()
    this.#sendContinue = undefined
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isGone) throw new ClientDisconnected()
      this.resumeSource()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      const piece = this.take(borrow)
      if (piece !== undefined) return piece
      if (this.isComplete) return undefined
    }
  }
}
