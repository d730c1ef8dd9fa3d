import { readSync } from 'node:fs'
import type { Socket } from 'node:net'
import { poison } from '../../poison.ts'
import { ClientDisconnected } from '../client-disconnected.ts'
import { noteReceived } from '../minor-gc.ts'
import type { ReceiveMemory } from '../receive-memory.ts'
import { ChunkedDecoder } from './chunked-decoder.ts'
import type { Framing } from './header-block.ts'
import { borrowReadBuffer, returnReadBuffer } from './read-buffer-pool.ts'

/** Held for a reader that is slower than the sender, before the sender has to wait. */
const MOST_HELD = 64 * 1024
/** So many pieces may wait as they came. Further ones that are small are copied into one buffer. */
const MOST_LOOSE = 8
const GATHERED_BYTES = 16 * 1024
/** Fewer bytes than this come in one piece anyway. */
const WORTH_READING_PAST = 64 * 1024

/** Where a body comes from. */
export interface BodySource {
  readonly socket: Socket
  readonly memory: ReceiveMemory
  /** Tells the client to send the body, if it waits for that. */
  readonly invite: (() => void) | undefined
}

/**
 * The body of a request, given piece by piece and only when asked for, so that a slow reader slows the sender. Who stops
 * reading just stops: the connection sees to the rest.
 */
export class IncomingBody {
  /** Of a request without a body. */
  static readonly none = new IncomingBody({ length: 0 })

  /** As announced; undefined if it comes in chunks. */
  readonly length: number | undefined
  readonly #socket: Socket | undefined
  readonly #memory: ReceiveMemory | undefined
  #invite: (() => void) | undefined
  readonly #chunked: ChunkedDecoder | undefined
  #pieces: Buffer[] = []
  /** The last of the pieces, if small ones are gathered in it, and how many bytes of it are in use. */
  #gathered: Buffer | undefined
  #gatheredLength = 0
  #held = 0
  /** Bytes that have not come yet, of a length that was announced. */
  #left: number
  #isGone = false
  #isDropped = false
  #dropped = 0
  #wake: (() => void) | undefined
  #failure: Error | undefined
  #space: Buffer | undefined
  #lastRead = 0
  #received = 0
  /** Since when somebody waits for the client, or the last time it had sent enough. */
  #slowSince: number | undefined
  #slowFrom = 0

  constructor({ length }: Framing, source?: BodySource) {
    this.length = length
    this.#left = length ?? 0
    this.#chunked = length === undefined ? new ChunkedDecoder() : undefined
    this.#socket = source?.socket
    this.#memory = source?.memory
    this.#invite = source?.invite
  }

  /** Whether its last byte has come, read or not. */
  get isComplete(): boolean {
    return this.#chunked === undefined ? this.#left === 0 : this.#chunked.isDone
  }

  /** Bytes that are sure to come. */
  get left(): number {
    return this.#left
  }

  /** Whether the client still waits to be told that it may send it. */
  get isHeldBack(): boolean {
    return this.#invite !== undefined && !this.isComplete
  }

  /** Whether a reader would have to wait for the client, which last sent something before `since`. */
  isStarvedSince(since: number): boolean {
    return !this.isComplete && this.#held === 0 && this.#lastRead < since
  }

  /** Whether the client sent fewer bytes a second than `leastRate` for `windowMs`, with somebody waiting for them. */
  isSlow(now: number, leastRate: number, windowMs: number): boolean {
    if (this.isComplete || (this.#wake === undefined && !this.#isDropped)) {
      this.#slowSince = undefined
      return false
    }
    if (this.#slowSince === undefined || this.#received - this.#slowFrom >= (leastRate * windowMs) / 1000) {
      this.#slowSince = now
      this.#slowFrom = this.#received
    }
    return now - this.#slowSince > windowMs
  }

  /** Bytes that nobody read. */
  get dropped(): number {
    return this.#dropped
  }

  /**
   * The next bytes, undefined at the end; not a promise if they are there. Throws ClientDisconnected if the sender left in the
   * middle. Bytes that are lent may change with the next call.
   */
  read(lend = false): Buffer | undefined | Promise<Buffer | undefined> {
    const piece = this.#take(lend)
    if (piece !== undefined) return piece
    return this.isComplete ? undefined : this.#readWhenThere(lend)
  }

  /** The whole of it, if it is there and nobody has read any of it; else undefined. */
  takeWhole(): Buffer | undefined {
    if (!this.isComplete || this.#pieces.length !== 1 || this.#held !== this.length) return undefined
    return this.#take(false)
  }

  /** Takes what came in, and returns how much of that belonged to it. Throws a `ProtocolError`. */
  push(bytes: Buffer): number {
    if (this.#chunked !== undefined) {
      const used = this.#chunked.feed(bytes, (piece) => this.#add(piece))
      if (this.isComplete) this.#wakeReader()
      return used
    }
    const piece = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes
    this.#left -= piece.length
    this.#add(piece)
    return piece.length
  }

  /** The connection broke. */
  abort(): void {
    // What came in can still be read, but is no longer counted: nobody may ever read it.
    this.#account(-this.#held)
    this.#isGone = true
    this.#wakeReader()
  }

  /** Has the reader that waits for the client fail with `error`; false if there is none. */
  fail(error: Error): boolean {
    if (this.#wake === undefined) return false
    this.#failure = error
    this.#wakeReader()
    return true
  }

  /** Nobody will read the rest. */
  drop(): void {
    this.#isDropped = true
    this.#dropped += this.#held
    this.#account(-this.#held)
    this.#pieces = []
    this.#gathered = undefined
    this.#held = 0
    this.#socket?.resume()
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return
    this.#received += piece.length
    if (this.#isDropped) {
      this.#dropped += piece.length
      return
    }
    noteReceived(piece.length)
    if (!this.#gather(piece)) {
      this.#pieces.push(piece)
      this.#gathered = undefined
    }
    this.#held += piece.length
    this.#account(piece.length)
    if (this.#wake !== undefined) this.#wakeReader()
    else if (!this.isComplete && (this.#held >= MOST_HELD || this.#memory?.isScarce)) this.#socket?.pause()
  }

  /**
   * Copies a small piece behind the last one, once many wait. A client that sends byte by byte would otherwise take some
   * hundred bytes of memory for each.
   */
  #gather(piece: Buffer): boolean {
    if (piece.length > GATHERED_BYTES / 4 || this.#pieces.length < MOST_LOOSE) return false
    if (this.#gathered === undefined || this.#gathered.length - this.#gatheredLength < piece.length) {
      this.#gathered = Buffer.allocUnsafeSlow(GATHERED_BYTES)
      this.#gatheredLength = 0
      this.#pieces.push(this.#gathered)
    }
    piece.copy(this.#gathered, this.#gatheredLength)
    this.#gatheredLength += piece.length
    this.#pieces[this.#pieces.length - 1] = this.#gathered.subarray(0, this.#gatheredLength)
    return true
  }

  #account(bytes: number): void {
    if (!this.#isGone) this.#memory?.change(bytes)
  }

  #wakeReader(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  async #readWhenThere(lend: boolean): Promise<Buffer | undefined> {
    this.#invite?.()
    this.#invite = undefined
    for (;;) {
      if (this.#isGone) throw new ClientDisconnected()
      if (this.#failure !== undefined) throw this.#failure
      this.#socket?.resume()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      const piece = this.#take(lend)
      if (piece !== undefined) return piece
      if (this.isComplete) return undefined
    }
  }

  #take(lend: boolean): Buffer | undefined {
    // What the stream of the socket holds back comes before what still waits in the socket; it is given to `push`.
    if (this.#pieces.length === 0 && !this.isComplete && this.#socket?.readableLength) this.#socket.read()
    const piece = this.#pieces.shift()
    if (piece !== undefined) this.#held -= piece.length
    if (piece !== undefined) this.#account(-piece.length)
    if (this.#pieces.length === 0) this.#gathered = undefined
    const given = piece ?? (lend ? this.#readPast() : undefined)
    if (given === undefined) this.#giveSpaceBack()
    // Whether the client stays is only seen while reading.
    if (this.isComplete && this.#socket?.isPaused()) this.#socket.resume()
    return given
  }

  /**
   * Node gives bytes in pieces of 64 KiB, each in new memory and announced by itself, which costs more than all else that
   * is done with them. What waits in the socket is read here, past Node, in one go.
   */
  #readPast(): Buffer | undefined {
    const descriptor = this.#left < WORTH_READING_PAST ? undefined : descriptorOf(this.#socket)
    if (descriptor === undefined) return undefined
    this.#space ??= borrowReadBuffer()
    poison(this.#space)
    let length = 0
    try {
      length = readSync(descriptor, this.#space, 0, Math.min(this.#space.length, this.#left), null)
    } catch {
      // Nothing waits, or the connection is broken, which Node will find out, as it will the end of the stream.
    }
    if (length === 0) return undefined
    this.#left -= length
    this.#received += length
    this.#lastRead = performance.now()
    return this.#space.subarray(0, length)
  }

  /** Nothing is lent any more. */
  #giveSpaceBack(): void {
    if (this.#space !== undefined) returnReadBuffer(this.#space)
    this.#space = undefined
  }
}

/** Sockets never block, so neither does reading from them by their number. */
function descriptorOf(socket: Socket | undefined): number | undefined {
  const { _handle: handle } = (socket ?? {}) as { _handle?: { fd?: unknown } | null }
  return socket?.destroyed === false && typeof handle?.fd === 'number' && handle.fd > 0
    ? handle.fd
    : undefined
}
