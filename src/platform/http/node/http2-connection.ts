import {
  constants,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type IncomingHttpHeaders as StreamHeaders,
} from 'node:http2'
import type { Socket } from 'node:net'
import { tooSlow } from '../body-memory.ts'
import { currentHttpDate } from '../http-date.ts'
import { ProtocolError } from '../protocol-error.ts'
import { type FlatHeaders, RETRY_SECONDS, type TransportOptions } from '../transport.ts'
import { NodeBody } from './node-body.ts'
import { readHttp2Head } from './node-head.ts'
import { NodeResponse, type ResponseSink } from './node-response.ts'
import type { StreamResets } from './stream-resets.ts'

/** Requests of one connection at the same time. Those that the client has reset count until their handlers have ended. */
export const MAX_STREAMS = 100
/** Receive window of one connection, in bytes: the most that it can have buffered for all its streams. */
const WINDOW_BYTES = 2 ** 20
/** A response is passed to Node in pieces of this size, so that it is seen how fast its client reads. */
const PIECE_BYTES = 64 * 1024
/** How many times longer than a connection one of its streams may stall while others are read. */
const STREAM_PATIENCE = 10

/** A request that has arrived. */
interface Arrival {
  readonly stream: ServerHttp2Stream
  readonly headers: StreamHeaders
  readonly flags: number
  readonly rawHeaders: readonly string[]
}

interface Exchange {
  readonly body: NodeBody
  readonly response: NodeResponse
  readonly sink: Http2Sink
}

/** Serves the streams of one HTTP/2 connection, in turn with the requests of all other connections. */
export class Http2Connection {
  readonly #session: ServerHttp2Session
  readonly #socket: Socket
  readonly #options: TransportOptions
  readonly #resets: StreamResets
  /** Requests that wait for their turn. One that is reset before that has cost next to nothing. */
  readonly #waiting = new Map<ServerHttp2Stream, Arrival>()
  readonly #exchanges = new Set<Exchange>()
  /** Requests whose handler has not ended or whose stream is open. */
  #running = 0
  #isQueued = false
  /** Whether the connection is being closed, so that its streams end by our will. */
  #isOver = false

  constructor(session: ServerHttp2Session, socket: Socket, options: TransportOptions, resets: StreamResets) {
    this.#session = session
    this.#socket = socket
    this.#options = options
    this.#resets = resets
    session.setLocalWindowSize(WINDOW_BYTES)
    session.on('error', () => {})
    session.on('stream', (stream, headers, flags, rawHeaders) => {
      this.#onStream({ stream, headers, flags, rawHeaders })
    })
    session.setTimeout(options.keepAliveMs, () => this.#onIdle())
    if (resets.isExceeded) this.#refuse()
  }

  /** Whether a response is pending. */
  get isAnswering(): boolean {
    return this.#exchanges.size > 0 || this.#waiting.size > 0
  }

  /** Lets the open streams finish, and accepts no further ones. */
  close(): void {
    this.#session.close()
  }

  destroy(): void {
    this.#isOver = true
    this.#session.destroy()
    this.#socket.destroy()
  }

  /** Resets the streams of a client that sends a body or reads a response too slowly. */
  sweep(now: number): void {
    const { leastRate, rateWindowMs } = this.#options
    const isRead = [...this.#exchanges].some(({ sink }) => !sink.isStalled(now, rateWindowMs))
    const patienceMs = isRead ? STREAM_PATIENCE * rateWindowMs : rateWindowMs
    for (const { body, sink } of this.#exchanges) {
      const isSlow = body.isSlow(now, leastRate, rateWindowMs) && !body.fail(tooSlow())
      if (isSlow || sink.isStalled(now, patienceMs)) sink.cancel(constants.NGHTTP2_CANCEL)
    }
  }

  /** No byte has moved for a while. A slow handler is not the client's fault. */
  #onIdle(): void {
    if (!this.isAnswering) this.close()
    for (const { body, sink } of this.#exchanges) {
      if (sink.isWaiting || body.isStarved) sink.cancel(constants.NGHTTP2_CANCEL)
    }
  }

  /** The client, or its address, has had more streams reset than it may. */
  #refuse(): void {
    this.#isOver = true
    this.#waiting.clear()
    this.#session.destroy(new Error('Too many streams were reset'), constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  /** Counts a stream that ended without a response: the client reset it, made us reset it, or closed the connection. */
  #countReset(): void {
    if (!this.#isOver && !this.#resets.count()) this.#refuse()
  }

  #onStream(arrival: Arrival): void {
    const { stream } = arrival
    // An error is followed by 'close'.
    stream.on('error', () => {})
    if (this.#isOver) return
    this.#waiting.set(stream, arrival)
    stream.once('close', () => {
      if (this.#waiting.delete(stream)) this.#countReset()
    })
    this.#queueNext()
  }

  #queueNext(): void {
    if (this.#isQueued || this.#waiting.size === 0 || this.#running >= MAX_STREAMS) return
    this.#isQueued = true
    this.#options.pipeline.add(() => {
      this.#isQueued = false
      for (const arrival of this.#waiting.values()) {
        this.#waiting.delete(arrival.stream)
        this.#serve(arrival)
        break
      }
      this.#queueNext()
    })
  }

  #serve({ stream, headers, flags, rawHeaders }: Arrival): void {
    const sink = new Http2Sink(stream)
    const response = new NodeResponse(sink, headers[':method'] === 'HEAD')
    this.#running += 1
    let isOpen = true
    let isHandled = true
    let exchange: Exchange | undefined
    const onHandled = () => {
      isHandled = true
      free()
    }
    const free = () => {
      if (isOpen || !isHandled) return
      this.#running -= 1
      this.#queueNext()
    }
    stream.once('close', () => {
      isOpen = false
      if (!response.isSent && !sink.isCanceled) this.#countReset()
      if (exchange !== undefined) this.#exchanges.delete(exchange)
      exchange?.body.abort()
      response.close()
      free()
    })
    try {
      if (this.#options.memory.isFull) throw new ProtocolError(503, RETRY_SECONDS)
      const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0
      const head = readHttp2Head(headers, rawHeaders, hasBody)
      const body = new NodeBody(stream, {
        length: head.length,
        memory: this.#options.memory,
        sendContinue: head.expectsContinue ? () => sendContinue(stream) : undefined,
        pause: () => stream.pause(),
        resume: () => stream.resume(),
      })
      exchange = { body, response, sink }
      this.#exchanges.add(exchange)
      const incoming = { head, body, socket: this.#socket, isEncrypted: true, isMultiplexed: true }
      const handled = this.#options.handler.serve(incoming, response)
      isHandled = handled === undefined
      void handled?.then(onHandled)
    } catch (error) {
      if (error instanceof ProtocolError) {
        this.#countReset()
        response.send(error.status, error.headers, error.body)
      } else {
        this.#options.onError(error)
        sink.destroy()
      }
    }
  }
}

function sendContinue(stream: ServerHttp2Stream): void {
  if (!stream.headersSent && !stream.destroyed) stream.additionalHeaders({ ':status': 100 })
}

/** An HTTP/2 response. */
class Http2Sink implements ResponseSink {
  /** Whether we have reset the stream. */
  isCanceled = false
  readonly #stream: ServerHttp2Stream
  #head: OutgoingHttpHeaders | undefined
  /** Since when the client has not taken a piece that is waiting; undefined if none is. */
  #waitingSince: number | undefined

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
  }

  get isDestroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }

  /** Whether bytes wait for the client to read. */
  get isWaiting(): boolean {
    return this.#waitingSince !== undefined
  }

  /** Whether the client has taken nothing for so long, although something waits for it. */
  isStalled(now: number, maxMs: number): boolean {
    return this.#waitingSince !== undefined && now - this.#waitingSince > maxMs
  }

  start(status: number, headers: FlatHeaders): void {
    const head: OutgoingHttpHeaders = { ':status': status, date: currentHttpDate() }
    for (let at = 0; at < headers.length; at += 2) {
      const value = headers[at + 1] ?? ''
      head[String(headers[at]).toLowerCase()] = typeof value === 'object' ? [...value] : value
    }
    this.#head = head
  }

  write(bytes: string | Buffer, onTaken?: () => void): void {
    this.#respond(false)
    this.#writePieces(bytes, () => onTaken?.())
  }

  end(body: string | Buffer | undefined, onSent: () => void): void {
    if (this.isDestroyed) return
    const isAlone = body === undefined && this.#head !== undefined
    this.#respond(isAlone)
    const done = () => {
      this.#waitingSince = undefined
      onSent()
      // Asks the client to stop sending the rest of a refused body (RFC 9113, 8.1).
      if (!this.#stream.readableEnded) this.cancel(constants.NGHTTP2_NO_ERROR)
    }
    if (this.#stream.writableFinished) done()
    else this.#stream.once('finish', done)
    if (isAlone) return
    if (body === undefined || Buffer.byteLength(body) <= PIECE_BYTES) {
      this.#waitingSince = performance.now()
      this.#stream.end(body)
    } else this.#writePieces(body, () => this.#stream.end())
  }

  destroy(): void {
    this.cancel(constants.NGHTTP2_INTERNAL_ERROR)
  }

  /** Resets the stream. */
  cancel(code: number): void {
    this.isCanceled = true
    this.#stream.close(code)
  }

  /** Writes a piece when the one before it was taken. */
  #writePieces(body: string | Buffer, onTaken: () => void): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    let at = 0
    const writeNext = (error?: Error | null) => {
      this.#waitingSince = undefined
      if (error || this.isDestroyed || at >= bytes.length) {
        onTaken()
        return
      }
      const piece = bytes.subarray(at, at + PIECE_BYTES)
      at += piece.length
      this.#waitingSince = performance.now()
      this.#stream.write(piece, writeNext)
    }
    writeNext()
  }

  #respond(endStream: boolean): void {
    if (this.#head === undefined || this.isDestroyed) return
    this.#stream.respond(this.#head, { endStream })
    this.#head = undefined
  }
}
