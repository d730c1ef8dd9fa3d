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

/** Receive window of one connection, in bytes: the most that it can have buffered for all its streams. */
const WINDOW_BYTES = 2 ** 20

interface Exchange {
  readonly stream: ServerHttp2Stream
  readonly body: NodeBody
  readonly response: NodeResponse
}

/** Serves the streams of one HTTP/2 connection. */
export class Http2Connection {
  readonly #session: ServerHttp2Session
  readonly #socket: Socket
  readonly #options: TransportOptions
  readonly #exchanges = new Set<Exchange>()

  constructor(session: ServerHttp2Session, socket: Socket, options: TransportOptions) {
    this.#session = session
    this.#socket = socket
    this.#options = options
    session.setLocalWindowSize(WINDOW_BYTES)
    session.on('error', () => {})
    session.on('stream', (stream, headers, flags, rawHeaders) => {
      this.#onStream(stream, headers, flags, rawHeaders)
    })
    session.setTimeout(options.keepAliveMs, () => this.#onIdle())
  }

  /** Whether a response is pending. */
  get isAnswering(): boolean {
    return this.#exchanges.size > 0
  }

  /** Lets the open streams finish, and accepts no further ones. */
  close(): void {
    this.#session.close()
  }

  destroy(): void {
    this.#session.destroy()
    this.#socket.destroy()
  }

  /** Resets the streams of a client that sends a body too slowly. */
  sweep(now: number): void {
    const { leastRate, rateWindowMs } = this.#options
    for (const { body, stream } of this.#exchanges) {
      if (body.isSlow(now, leastRate, rateWindowMs) && !body.fail(tooSlow())) {
        stream.close(constants.NGHTTP2_CANCEL)
      }
    }
  }

  /** No byte has moved for a while. A slow handler is not the client's fault. */
  #onIdle(): void {
    if (this.#exchanges.size === 0) this.close()
    for (const { body, stream } of this.#exchanges) {
      if (stream.writableLength > 0 || body.isStarved) stream.close(constants.NGHTTP2_CANCEL)
    }
  }

  #onStream(
    stream: ServerHttp2Stream,
    headers: StreamHeaders,
    flags: number,
    rawHeaders: readonly string[],
  ): void {
    // An error is followed by 'close'.
    stream.on('error', () => {})
    const isHead = headers[':method'] === 'HEAD'
    const response = new NodeResponse(new Http2Sink(stream), isHead)
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
      const exchange = { stream, body, response }
      this.#exchanges.add(exchange)
      stream.once('close', () => {
        this.#exchanges.delete(exchange)
        body.abort()
        response.close()
      })
      const { handler } = this.#options
      handler.serve({ head, body, socket: this.#socket, isEncrypted: true }, response)
    } catch (error) {
      if (error instanceof ProtocolError) response.send(error.status, error.headers, error.body)
      else {
        this.#options.onError(error)
        stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      }
    }
  }
}

function sendContinue(stream: ServerHttp2Stream): void {
  if (!stream.headersSent && !stream.destroyed) stream.additionalHeaders({ ':status': 100 })
}

/** An HTTP/2 response. */
class Http2Sink implements ResponseSink {
  readonly #stream: ServerHttp2Stream
  #head: OutgoingHttpHeaders | undefined

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
  }

  get isDestroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed
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
    this.#stream.write(bytes, () => onTaken?.())
  }

  end(body: string | Buffer | undefined, onSent: () => void): void {
    if (this.isDestroyed) return
    const isAlone = body === undefined && this.#head !== undefined
    this.#respond(isAlone)
    const done = () => {
      onSent()
      // Asks the client to stop sending the rest of a refused body (RFC 9113, 8.1).
      if (!this.#stream.readableEnded) this.#stream.close(constants.NGHTTP2_NO_ERROR)
    }
    if (this.#stream.writableFinished) done()
    else this.#stream.once('finish', done)
    if (!isAlone) this.#stream.end(body)
  }

  destroy(): void {
    this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }

  #respond(endStream: boolean): void {
    if (this.#head === undefined || this.isDestroyed) return
    this.#stream.respond(this.#head, { endStream })
    this.#head = undefined
  }
}
