import { IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { detail } from '../../responses/index.ts'
import { tooSlow } from '../body-memory.ts'
import { LingeringClose } from '../lingering-close.ts'
import { beginsWithHead, ProtocolError } from '../protocol-error.ts'
import { DRAIN_LIMIT, type FlatHeaders, RETRY_SECONDS, type TransportOptions } from '../transport.ts'
import { WriteProgress } from '../write-progress.ts'
import { NodeBody } from './node-body.ts'
import { type NodeHead, readHead } from './node-head.ts'
import { NodeResponse, type ResponseSink } from './node-response.ts'

/** Pipelined requests that Node's parser may run ahead. */
const MAX_PIPELINED = 1024
/** How long bytes behind an invalid request are discarded. */
const ERROR_LINGER_MS = 5_000
/** How long the rest of a refused body is discarded while the server shuts down. */
const SHUTDOWN_LINGER_MS = 2_000
/** An empty line between two requests is ignored, so it does not start the timeout of a head. */
const EMPTY_LINE_BYTES = 2
const NOTHING = Buffer.alloc(0)

/** A request whose body decides when the socket is read, instead of Node's stream. */
export class PausableMessage extends IncomingMessage {
  override _read(): void {}
}

/** One request and its response. */
interface Exchange {
  readonly head: NodeHead
  readonly body: NodeBody
  readonly message: IncomingMessage
  readonly response: NodeResponse
}

/** A step that waits for the exchanges before it. */
interface Waiting {
  readonly body?: NodeBody
  start(): void
}

/** Serves the requests of one HTTP/1 connection in order, each after the response to the one before it. */
export class Http1Connection {
  readonly socket: Socket
  readonly #isEncrypted: boolean
  readonly #options: TransportOptions
  readonly #progress: WriteProgress
  /** What follows the current exchange: pipelined requests, and at most one error at the end. */
  #waiting: Waiting[] = []
  #current: Exchange | undefined
  /** Whether the client has ended its side. */
  #hasEnded = false
  /** Whether Node's parser gave up. */
  #isBroken = false
  /** Whether no further request is served. */
  #isOver = false
  #isQueued = false
  #linger: LingeringClose | undefined
  /** `bytesRead` when the last request was parsed, and when more was first seen. */
  #parsedBytes = 0
  #headSince: number | undefined

  constructor(socket: Socket, isEncrypted: boolean, options: TransportOptions) {
    this.socket = socket
    this.#isEncrypted = isEncrypted
    this.#options = options
    this.#progress = new WriteProgress(socket)
    // An error is followed by 'close'.
    socket.on('error', () => {})
    socket.on('end', this.#onEnd).on('close', this.#onClose)
  }

  /** Whether a response is pending. */
  get isAnswering(): boolean {
    return this.#current !== undefined || this.#waiting.length > 0
  }

  destroy(): void {
    this.socket.destroy()
  }

  onRequest(message: IncomingMessage, response: ServerResponse): void {
    this.#parsedBytes = this.socket.bytesRead
    this.#headSince = undefined
    if (this.#isOver) return
    if (this.#waiting.length >= MAX_PIPELINED) {
      this.destroy()
      return
    }
    try {
      if (this.#options.memory.isFull) throw new ProtocolError(503, RETRY_SECONDS)
      const exchange = this.#exchangeOf(readHead(message), message, response)
      this.#add({ body: exchange.body, start: () => this.#serve(exchange) })
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      message.resume()
      this.#isBroken = true
      this.#add({ start: () => this.#refuse(error, message.method === 'HEAD') })
    }
  }

  /** Node's parser found an error, or the socket failed. */
  onClientError(error: Error & { code?: string; rawPacket?: Buffer }): void {
    if (!this.socket.writable || !error.code?.startsWith('HPE_')) this.destroy()
    else if (!this.#isBroken && !this.#isOver) {
      this.#isBroken = true
      const refusal = new ProtocolError(error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400)
      const receiving = this.#current?.message.complete === false ? this.#current : undefined
      if (receiving === undefined) {
        this.#add({ start: () => this.#refuse(refusal, beginsWithHead(error.rawPacket)) })
      }
      // The handler must not take the part for the whole. One that is waiting for bytes can still respond.
      else if (!receiving.body.fail(detail(400, `${refusal.message}.`))) this.destroy()
    }
  }

  /** The client asked for another protocol; the HTTP server has released the socket. */
  onUpgrade(message: IncomingMessage, rest: Buffer): void {
    const { socket } = this
    if (this.isAnswering || this.#isOver) {
      this.destroy()
      return
    }
    this.#isOver = true
    // The error listener stays: an error without a listener, at any time, would end the process.
    socket.off('end', this.#onEnd)
    socket.setTimeout(0)
    this.#options.handler.upgrade(readHead(message), socket, rest)
  }

  /** The HTTP server has released the socket for a CONNECT tunnel, which is not supported. */
  onConnect(): void {
    this.#isBroken = true
    this.#add({ start: () => this.#refuse(new ProtocolError(400), false) })
  }

  /** Closes the connection of a client that is too slow. */
  sweep(now: number): void {
    const { headersMs, leastRate, rateWindowMs } = this.#options
    const isIdle = !this.isAnswering && !this.#isOver
    if (!isIdle || this.socket.bytesRead - this.#parsedBytes <= EMPTY_LINE_BYTES) this.#headSince = undefined
    else this.#headSince ??= now
    if (this.#headSince !== undefined && now - this.#headSince > headersMs) {
      this.#refuse(new ProtocolError(408), false)
    } else if (this.#progress.isSlow(now, leastRate, rateWindowMs)) this.destroy()
    else if (this.#current?.body.isSlow(now, leastRate, rateWindowMs)) {
      // The connection ends with the response.
      this.#isBroken = true
      if (!this.#current.body.fail(tooSlow())) this.destroy()
    }
  }

  /** No byte has moved for `idleMs`, or for the keep-alive timeout after a response. */
  onIdle(): void {
    const isStalled = this.socket.writableLength > 0 || this.#current?.body.isStarved === true
    // A slow handler is not the client's fault.
    if (this.#current === undefined || isStalled) this.destroy()
    else this.socket.setTimeout(this.#options.idleMs)
  }

  #exchangeOf(head: NodeHead, message: IncomingMessage, raw: ServerResponse): Exchange {
    const { socket } = this
    const body: NodeBody = new NodeBody(message, {
      length: head.length,
      memory: this.#options.memory,
      sendContinue: head.expectsContinue ? () => sendContinue(body, raw) : undefined,
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    })
    message.on('data', () => this.#linger?.onBytes())
    const sink = new Http1Sink(raw, {
      keepsAlive: () => this.#keepsAlive(head, body),
      isDraining: () => !body.isComplete,
      onSent: (keepsAlive) => this.#onSent(exchange, raw, keepsAlive),
    })
    const exchange: Exchange = {
      head,
      body,
      message,
      response: new NodeResponse(sink, head.method === 'HEAD'),
    }
    return exchange
  }

  #add(step: Waiting): void {
    if (this.#current === undefined && this.#waiting.length === 0) step.start()
    else this.#waiting.push(step)
  }

  #dropWaiting(): void {
    for (const { body } of this.#waiting) body?.abort()
    this.#waiting = []
  }

  #serve(exchange: Exchange): void {
    const { head, body, message, response } = exchange
    // The rest of the body will never arrive, and no event will say so.
    if (this.#hasEnded && !message.complete) {
      body.abort()
      this.#refuse(new ProtocolError(400), false)
      return
    }
    this.#current = exchange
    const { handler } = this.#options
    void handler.serve({ head, body, socket: this.socket, isEncrypted: this.#isEncrypted }, response)
  }

  #keepsAlive({ connection }: NodeHead, body: NodeBody): boolean {
    // Node's parser reads nothing after a body that came with an upgrade, even if the upgrade was refused.
    const isParserDone = connection.has('upgrade') && body.length !== 0
    const isTooMuch = !body.isComplete && (body.length === undefined || body.left > DRAIN_LIMIT)
    const isLast = (this.#hasEnded || this.#isBroken) && this.#waiting.length === 0
    const isRefused = isTooMuch || isParserDone || body.awaitsContinue || connection.has('close')
    return !isRefused && !isLast && !this.#options.isClosing()
  }

  /** The operating system has the whole response. The rest of the body may still be coming. */
  #onSent({ body, message }: Exchange, raw: ServerResponse, keepsAlive: boolean): void {
    body.discard()
    if (body.isComplete) this.#onFinished(keepsAlive)
    else if (keepsAlive) {
      raw.once('finish', () => this.#onFinished(true))
      message.once('end', () => raw.end())
    } else {
      this.#startLingering(this.#options.lingerMs)
      message.once('end', () => this.socket.destroySoon())
    }
  }

  /** An exchange is over. Starts the next one when it is this connection's turn. */
  #onFinished(keepsAlive: boolean): void {
    this.#current = undefined
    this.#parsedBytes = this.socket.bytesRead
    if (!keepsAlive) this.#isOver = true
    else if (this.#waiting.length > 0) this.#queueNext()
    else if (this.socket.isPaused()) this.socket.resume()
  }

  #queueNext(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#options.pipeline.add(() => {
      this.#isQueued = false
      try {
        if (!this.#isOver) this.#waiting.shift()?.start()
      } catch (error) {
        this.#options.onError(error)
        this.destroy()
      }
    })
  }

  #startLingering(maxMs: number): void {
    this.#isOver = true
    this.#current = undefined
    this.#dropWaiting()
    this.socket.resume()
    const limit = this.#options.isClosing() ? Math.min(maxMs, SHUTDOWN_LINGER_MS) : maxMs
    this.#linger = new LingeringClose(this.socket, limit)
  }

  /** Responds to an invalid request. */
  #refuse(error: ProtocolError, isHead: boolean): void {
    this.#headSince = undefined
    this.socket.write(error.responseText(isHead), 'latin1')
    this.#startLingering(ERROR_LINGER_MS)
  }

  /**
   * The client ended its side. Pipelined requests that have arrived are still served. A pending request without any
   * behind it is abandoned: a client that only half-closed cannot be distinguished from one that has left.
   */
  readonly #onEnd = (): void => {
    this.#hasEnded = true
    if (this.#isOver || this.#current === undefined || this.#waiting.length > 0) return
    if (!this.#current.response.isEnded || !this.#current.message.complete) this.destroy()
  }

  readonly #onClose = (): void => {
    this.#isOver = true
    this.#dropWaiting()
    this.#current?.body.abort()
    this.#current?.response.close()
    this.#current = undefined
  }
}

/** Sends `100 Continue`, unless the body arrived together with its head, which Node's parser reports later. */
function sendContinue(body: NodeBody, response: ServerResponse): void {
  setImmediate(() => {
    if (body.isStarved && !response.headersSent) response.writeContinue()
  })
}

interface SinkEvents {
  keepsAlive(): boolean
  /** Whether part of the request body is still to come. */
  isDraining(): boolean
  onSent(keepsAlive: boolean): void
}

/** An HTTP/1 response. */
class Http1Sink implements ResponseSink {
  readonly #response: ServerResponse
  readonly #events: SinkEvents
  #head: { readonly status: number; readonly headers: FlatHeaders } | undefined
  #keepsAlive = false

  constructor(response: ServerResponse, events: SinkEvents) {
    this.#response = response
    this.#events = events
  }

  get isDestroyed(): boolean {
    return this.#response.destroyed || this.#response.socket?.destroyed === true
  }

  start(status: number, headers: FlatHeaders): void {
    this.#head = { status, headers }
  }

  write(bytes: string | Buffer, onTaken?: () => void): void {
    this.#writeHead()
    this.#response.write(bytes, onTaken)
  }

  end(body: string | Buffer | undefined, onSent: () => void): void {
    const isWhole = this.#head !== undefined
    this.#writeHead()
    const done = () => {
      onSent()
      this.#events.onSent(this.#keepsAlive)
    }
    // Node would close, or discard without limits, as soon as the response ends. So it is ended after the body.
    if (isWhole && this.#events.isDraining()) {
      if (body === undefined) this.#response.flushHeaders()
      else this.#response.write(body)
      this.#response.socket?.write(NOTHING, (error) => error ?? done())
      return
    }
    this.#response.once('finish', done)
    this.#response.end(body)
  }

  destroy(): void {
    this.#response.socket?.destroy()
    this.#response.destroy()
  }

  #writeHead(): void {
    if (this.#head === undefined) return
    const { status, headers } = this.#head
    this.#head = undefined
    this.#keepsAlive = this.#events.keepsAlive() && this.#response.shouldKeepAlive
    const close = this.#keepsAlive ? [] : ['Connection', 'close']
    this.#response.writeHead(status, [...headers, ...close] as string[])
  }
}
