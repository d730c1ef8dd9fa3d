import { readSync } from 'node:fs'
import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { noteReceived } from './young-garbage.ts'

/** Shorter bodies are not worth a connection. */
const SHORTEST = 16 * 2 ** 20
/** Read at once at most; the event loop is held for a fraction of a millisecond (I10). */
const SPACE_BYTES = 2 ** 20

/** Those whose parser did not see all of their body, so that no other request can follow on their connection. */
const readPast = new WeakSet<IncomingMessage>()

/** Whether a connection has to end with the answer to this request. */
export function isReadPast(incoming: IncomingMessage): boolean {
  return readPast.has(incoming)
}

/**
 * A long body that is sent faster than it is taken. Node gives it in pieces of 64 KiB, each read, parsed, copied and
 * announced by itself, which costs more than all else that is done with the bytes. While Node holds a piece it stops
 * reading; what waits in the socket by then is read here, past Node, in one go.
 */
export class LongBody {
  readonly #body: IncomingMessage
  /** Bytes of the body not given yet, nor held in #next. */
  #left: number
  /** Used again and again: new memory would cost more than to read into it. */
  #space: Buffer | undefined
  /** Bytes that come after what Node gave last. */
  #next: Buffer | undefined

  private constructor(body: IncomingMessage, length: number) {
    this.#body = body
    this.#left = length
  }

  /** Undefined for a body that is not long, or has no socket of its own to be read from. */
  static of(body: Readable): LongBody | undefined {
    if (!(body instanceof IncomingMessage) || 'encrypted' in body.socket) return undefined
    const length = Number(body.headers['content-length'] ?? 0)
    return length < SHORTEST ? undefined : new LongBody(body, length)
  }

  /** As `read` of the stream; bytes that are lent change with the next call. */
  read(lend: boolean): Buffer | null {
    const next = this.#next
    if (next !== undefined) {
      this.#next = undefined
      return lend ? next : Buffer.from(next)
    }
    // Before Node gives its piece, because that is when it goes on reading.
    const waiting = lend ? this.#readWaiting() : undefined
    const given = this.#body.read() as Buffer | null
    if (given === null) return null
    noteReceived(given.length)
    // Once something was read past it, the parser takes for body what comes after the end.
    const piece = given.subarray(0, this.#left)
    this.#left -= piece.length + (waiting?.length ?? 0)
    this.#next = waiting
    if (this.#left === 0 && isReadPast(this.#body)) this.#body.complete = true
    return piece
  }

  #readWaiting(): Buffer | undefined {
    const { socket, readableLength } = this.#body
    const most = Math.min(SPACE_BYTES, this.#left - readableLength)
    const descriptor = descriptorOf(socket)
    if (readableLength === 0 || most <= 0 || !socket.isPaused() || descriptor === undefined) return undefined
    this.#space ??= Buffer.allocUnsafeSlow(SPACE_BYTES)
    try {
      const length = readSync(descriptor, this.#space, 0, most, null)
      // The end of the stream is for Node to find.
      if (length === 0) return undefined
      readPast.add(this.#body)
      return this.#space.subarray(0, length)
    } catch {
      // Nothing waits, or the connection is broken, which Node will find out.
      return undefined
    }
  }
}

/** Sockets never block, so neither does reading from them by their number. */
function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as { _handle?: { fd?: unknown } | null }
  return !socket.destroyed && typeof handle?.fd === 'number' && handle.fd > 0 ? handle.fd : undefined
}
