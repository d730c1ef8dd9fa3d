import { readSync } from 'node:fs'
import type { Socket } from 'node:net'
import { poison } from '../../../base/poison.ts'
import { BufferedBody } from '../buffered-body.ts'
import { countAllocated } from '../minor-gc.ts'
import type { ReceiveMemory } from '../receive-memory.ts'
import { ChunkedDecoder } from './chunked-decoder.ts'
import type { Framing } from './header-block.ts'

/** Fewer bytes than this come in one piece anyway. */
const MIN_DIRECT_READ = 64 * 1024

/** Where a body comes from. */
interface BodySource {
  readonly socket: Socket
  readonly memory: ReceiveMemory
  /** Sends `100 Continue`, if the client waits for it. */
  readonly sendContinue: (() => void) | undefined
}

/** A request body that is decoded from the bytes of a socket. */
export class SocketBody extends BufferedBody {
  /** Of a request without a body. */
  static readonly none = new SocketBody({ length: 0 })

  readonly #socket: Socket | undefined
  readonly #chunked: ChunkedDecoder | undefined
  /** Bytes of an announced length still to come. */
  #left: number
  #readBuffer: Buffer | undefined
  /** Time of the last direct read. Node does not count it as activity of the socket. */
  #lastDirectRead = 0

  constructor({ length }: Framing, source?: BodySource) {
    super({ length, memory: source?.memory, sendContinue: source?.sendContinue })
    this.#left = length ?? 0
    this.#chunked = length === undefined ? new ChunkedDecoder() : undefined
    this.#socket = source?.socket
  }

  get isComplete(): boolean {
    return this.#chunked === undefined ? this.#left === 0 : this.#chunked.isDone
  }

  /** Bytes of an announced length still to come. */
  get left(): number {
    return this.#left
  }

  /** Whether a reader would have to wait for a client that last sent something before `since`. */
  isStarvedSince(since: number): boolean {
    return !this.isComplete && this.pieces.bytes === 0 && this.#lastDirectRead < since
  }

  /** Takes received bytes, and returns how many of them belong to this body. Throws a `ProtocolError`. */
  push(bytes: Buffer): number {
    if (this.#chunked !== undefined) {
      const used = this.#chunked.feed(bytes, (piece) => this.#receive(piece))
      if (this.isComplete) this.wakeReader()
      return used
    }
    const piece = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes
    this.#left -= piece.length
    this.#receive(piece)
    return piece.length
  }

  #receive(piece: Buffer): void {
    countAllocated(piece.length)
    this.add(piece)
  }

  protected pauseSource(): void {
    this.#socket?.pause()
  }

  protected resumeSource(): void {
    this.#socket?.resume()
  }

  protected override take(borrow: boolean): Buffer | undefined {
    // Bytes in the buffer of the stream come before those still in the kernel; reading them calls `push`.
    if (this.pieces.length === 0 && !this.isComplete && this.#socket?.readableLength) this.#socket.read()
    const piece = super.take(borrow) ?? (borrow ? this.#readDirectly() : undefined)
    if (piece === undefined) this.#returnReadBuffer()
    // A disconnect is only noticed while reading.
    if (this.isComplete && this.#socket?.isPaused()) this.#socket.resume()
    return piece
  }

  /**
   * Reads from the descriptor into a pooled buffer of 1 MiB. Node delivers bytes in pieces of 64 KiB, each in new memory
   * and with an event of its own, which costs more than everything else done with them.
   */
  #readDirectly(): Buffer | undefined {
    const descriptor = this.#left < MIN_DIRECT_READ ? undefined : descriptorOf(this.#socket)
    if (descriptor === undefined) return undefined
    this.#readBuffer ??= borrowReadBuffer()
    poison(this.#readBuffer)
    let length = 0
    try {
      length = readSync(descriptor, this.#readBuffer, 0, Math.min(this.#readBuffer.length, this.#left), null)
    } catch {
      // EAGAIN, or the connection is broken. Node will notice the latter, as it will the end of the stream.
    }
    if (length === 0) return undefined
    this.#left -= length
    this.received += length
    this.#lastDirectRead = performance.now()
    return this.#readBuffer.subarray(0, length)
  }

  #returnReadBuffer(): void {
    if (this.#readBuffer !== undefined) returnReadBuffer(this.#readBuffer)
    this.#readBuffer = undefined
  }
}

/** Sockets are non-blocking, so reading from their descriptor never blocks. */
function descriptorOf(socket: Socket | undefined): number | undefined {
  const { _handle: handle } = (socket ?? {}) as { _handle?: { fd?: unknown } | null }
  return socket?.destroyed === false && typeof handle?.fd === 'number' && handle.fd > 0
    ? handle.fd
    : undefined
}

/** Bytes read at once at most. Copying them takes a fraction of a millisecond (I10). */
const BUFFER_BYTES = 2 ** 20
const MAX_POOLED = 8

/** Buffers that large bodies are read into. Allocating one costs more than reading into it. */
const pool: Buffer[] = []

export function borrowReadBuffer(): Buffer {
  return pool.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
}

export function returnReadBuffer(buffer: Buffer): void {
  poison(buffer)
  if (pool.length < MAX_POOLED) pool.push(buffer)
}
