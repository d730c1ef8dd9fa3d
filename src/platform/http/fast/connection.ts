import type { Socket } from 'node:net'
import { detail } from '../../responses/index.ts'
import { tooSlow } from '../body-memory.ts'
import { LingeringClose } from '../lingering-close.ts'
import { beginsWithHead, ProtocolError } from '../protocol-error.ts'
import { DRAIN_LIMIT, KEEP_ALIVE_GRACE_MS, RETRY_SECONDS, type TransportOptions } from '../transport.ts'
import { WriteProgress } from '../write-progress.ts'
import { HeadReader, isEmptyLine, type ParsedHead } from './request-head.ts'
import { SocketBody } from './socket-body.ts'
import { type ResponseConnection, SocketResponse } from './socket-response.ts'

/** Bytes of pipelined requests that are received before the current response is complete. */
const MAX_PIPELINED_BYTES = 16 * 1024
/** How long bytes behind an invalid request are discarded. */
const ERROR_LINGER_MS = 5_000
/** How long the rest of a refused body is discarded while the server shuts down. */
const SHUTDOWN_LINGER_MS = 2_000

/**
 * One connection. Its requests are served in order, each after the response to the one before it. HTTP/1.1 as in
 * RFC 9112; a request that could be parsed in two ways is rejected.
 */
export class Connection implements ResponseConnection {
  readonly socket: Socket
  /** Of the current request. */
  isHttp11 = true
  isHead = false
  readonly #options: TransportOptions
  readonly #heads = new HeadReader()
  /** Received bytes that were not parsed yet. */
  #rest: Buffer | undefined
  #body = SocketBody.none
  /** The pending response. */
  #response: SocketResponse | undefined
  #keepsAlive = false
  /** When the last response was sent; undefined before the first one and while one is pending. */
  #idleSince: number | undefined
  /** When the first byte of an incomplete head arrived. */
  #headSince: number | undefined
  /** Whether bytes of the next request wait in the queue. */
  #isQueued = false
  readonly #progress: WriteProgress
  /** Whether the body violated its framing. What follows it cannot be parsed. */
  #isBroken = false
  /** Whether the client has ended its side. */
  #hasEnded = false
  /** Whether no further request is read. */
  #isOver = false
  #linger: LingeringClose | undefined

  constructor(socket: Socket, options: TransportOptions) {
    this.socket = socket
    this.#options = options
    this.#progress = new WriteProgress(socket)
    socket.setTimeout(options.idleMs)
    socket.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose)
    // An error is followed by 'close'.
    socket.on('timeout', this.#onIdle).on('error', ignore)
  }

  /** Whether a response is pending, or a request that has arrived is not begun. */
  get isAnswering(): boolean {
    return this.#response !== undefined || this.#isQueued
  }

  /** Closes the connection of a client that is too slow: to send its next request, a head or a body, or to read a response. */
  sweep(now: number): void {
    const { keepAliveMs, headersMs, leastRate, rateWindowMs } = this.#options
    const maxIdleMs = keepAliveMs + Math.min(KEEP_ALIVE_GRACE_MS, keepAliveMs)
    if (this.#headSince !== undefined && now - this.#headSince > headersMs) {
      this.#refuse(new ProtocolError(408))
    } else if (this.#idleSince !== undefined && now - this.#idleSince > maxIdleMs) this.destroy()
    else if (this.#progress.isSlow(now, leastRate, rateWindowMs)) this.destroy()
    else if (this.#body.isSlow(now, leastRate, rateWindowMs)) this.#endSlowBody()
  }

  #endSlowBody(): void {
    this.#keepsAlive = false
    if (!this.#body.fail(tooSlow())) this.destroy()
  }

  destroy(): void {
    this.socket.destroy()
  }

  readonly #onData = (bytes: Buffer): void => {
    try {
      this.#receive(bytes)
    } catch (error) {
      this.#onFault(error)
    }
  }

  #receive(bytes: Buffer): void {
    if (this.#isBroken || (this.#isOver && this.#body.isComplete)) return
    let rest = bytes
    if (!this.#body.isComplete) {
      const used = this.#pushBody(bytes)
      if (used === undefined) return
      rest = bytes.subarray(used)
      this.#linger?.onBytes()
      if (this.#body.isComplete) {
        if (this.#isOver) this.socket.destroySoon()
        else if (this.#response?.isSent) this.onSent()
      }
    }
    if (rest.length > 0 && !this.#isOver) {
      this.#setRest(this.#rest === undefined ? rest : Buffer.concat([this.#rest, rest]))
      if (this.#response === undefined && !this.#isQueued) this.#queueNext()
      else if ((this.#rest?.length ?? 0) > MAX_PIPELINED_BYTES) this.socket.pause()
    }
    if (this.#rest !== undefined && this.#options.memory.isFull) this.#refuseForMemory()
  }

  #refuseForMemory(): void {
    if (this.#response === undefined) this.#refuse(new ProtocolError(503, RETRY_SECONDS))
    else this.destroy()
  }

  #setRest(rest: Buffer | undefined): void {
    this.#options.memory.change((rest?.length ?? 0) - (this.#rest?.length ?? 0))
    this.#rest = rest
  }

  /** A bug. It costs this connection, and no other. */
  #onFault(error: unknown): void {
    this.#options.onError(error)
    this.destroy()
  }

  /** The bytes that belong to the body; undefined if they violate its framing. */
  #pushBody(bytes: Buffer): number | undefined {
    try {
      return this.#body.push(bytes)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#isBroken = true
      this.#keepsAlive = false
      // The handler must not take the part for the whole. One that is waiting for bytes can still respond.
      if (!this.#body.fail(detail(error.status, `${error.message}.`))) this.destroy()
      return undefined
    }
  }

  /** Serves the next request after this turn of the event loop, with all others that arrive in it. */
  #queueNext(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#options.pipeline.add(() => {
      this.#isQueued = false
      try {
        this.#readNext()
      } catch (error) {
        this.#onFault(error)
      }
    })
  }

  #readNext(): void {
    if (this.#response !== undefined || this.#rest === undefined || this.#isOver) return
    if (this.#readRequest(this.#rest)) return
    if (this.#hasEnded) this.#endIncomplete()
    else if (this.socket.isPaused()) this.socket.resume()
  }

  /** Whether there was a whole head. */
  #readRequest(bytes: Buffer): boolean {
    try {
      const read = this.#heads.read(bytes)
      if (read === undefined) {
        if (!isEmptyLine(bytes)) this.#headSince ??= performance.now()
        return false
      }
      this.#headSince = undefined
      this.#idleSince = undefined
      this.#setRest(read.end === bytes.length ? undefined : bytes.subarray(read.end))
      this.#begin(read.head)
      return true
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#refuse(error, beginsWithHead(bytes))
      return false
    }
  }

  #begin(head: ParsedHead): void {
    const { connection, framing, expectsContinue } = head.headers
    if (head.isHttp11 && connection.has('upgrade') && this.#upgrade(head)) return
    this.#keepsAlive = !connection.has('close') && (head.isHttp11 || connection.has('keep-alive'))
    this.#body = SocketBody.none
    if (framing.length !== 0) {
      const sendContinue = expectsContinue && head.isHttp11 ? () => this.#sendContinue() : undefined
      this.#body = new SocketBody(framing, {
        socket: this.socket,
        memory: this.#options.memory,
        sendContinue,
      })
      if (this.#rest !== undefined) {
        const rest = this.#rest.subarray(this.#body.push(this.#rest))
        this.#setRest(rest.length === 0 ? undefined : rest)
      }
      // The rest of the body will never arrive, and no event will say so.
      if (this.#hasEnded && !this.#body.isComplete) throw new ProtocolError(400)
    }
    this.isHttp11 = head.isHttp11
    this.isHead = head.method === 'HEAD'
    const response = new SocketResponse(this)
    this.#response = response
    const { handler } = this.#options
    void handler.serve({ head, socket: this.socket, isEncrypted: false, body: this.#body }, response)
  }

  #sendContinue(): void {
    if (this.#response?.isBegun === false) this.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1')
  }

  keepAlive(mayKeep: boolean): string | undefined {
    const body = this.#body
    const isTooMuch = !body.isComplete && (body.length === undefined || body.left > DRAIN_LIMIT)
    const isLast = this.#hasEnded && this.#rest === undefined
    this.#keepsAlive &&=
      mayKeep && !isTooMuch && !isLast && !body.awaitsContinue && !this.#options.isClosing()
    return this.#keepsAlive ? `timeout=${Math.floor(this.#options.keepAliveMs / 1000)}` : undefined
  }

  /** The response is sent. The rest of the body may still be coming. */
  onSent(): void {
    if (!this.#keepsAlive) {
      this.#finish(this.#options.lingerMs)
      return
    }
    // Unread bytes are discarded even if the body is complete: they count against the budget of all connections.
    if (this.#body !== SocketBody.none) this.#body.discard()
    if (this.#body.isComplete) {
      this.#response = undefined
      this.#idleSince = performance.now()
      if (this.#rest !== undefined) this.#queueNext()
      else if (this.#hasEnded) this.#finish(0)
      else if (this.socket.isPaused()) this.socket.resume()
    }
  }

  /** Closes the connection, after `lingerMs` at the latest if the client is still sending. */
  #finish(lingerMs: number): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#response = undefined
    if (this.#hasEnded || (this.#body.isComplete && this.#rest === undefined)) {
      this.socket.destroySoon()
      return
    }
    this.#setRest(undefined)
    this.#body.discard()
    this.socket.resume()
    const maxMs = this.#options.isClosing() ? Math.min(lingerMs, SHUTDOWN_LINGER_MS) : lingerMs
    this.#linger = new LingeringClose(this.socket, maxMs)
  }

  /** Responds to an invalid request. */
  #refuse(error: ProtocolError, isHead = false): void {
    this.#headSince = undefined
    this.#setRest(Buffer.alloc(0))
    this.#body.abort()
    this.#body = SocketBody.none
    this.socket.write(error.responseText(isHead), 'latin1')
    this.#finish(ERROR_LINGER_MS)
  }

  #upgrade(head: ParsedHead): boolean {
    const { handler } = this.#options
    if (!handler.acceptsUpgrade(head)) return false
    const { socket } = this
    // The error listener stays: an error without a listener, at any time, would end the process.
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onIdle)
    socket.setTimeout(0)
    const rest = this.#rest ?? Buffer.alloc(0)
    this.#isOver = true
    this.#setRest(undefined)
    handler.upgrade(head, socket, rest)
    return true
  }

  /**
   * The client ended its side. Pipelined requests that have arrived are still served. A pending request without any
   * behind it is abandoned: a client that only half-closed cannot be distinguished from one that has left.
   */
  readonly #onEnd = (): void => {
    this.#hasEnded = true
    const response = this.#response
    if (this.#isOver) return
    if (response === undefined) {
      if (!this.#isQueued) this.#endIncomplete()
    } else if (!this.#body.isComplete) this.destroy()
    else if (this.#rest !== undefined) return
    else if (response.isEnded) this.#keepsAlive = false
    else this.destroy()
  }

  /** The client ended its side before its next request was complete. */
  #endIncomplete(): void {
    if (this.#isOver) return
    if (this.#rest === undefined || isEmptyLine(this.#rest)) this.socket.destroySoon()
    else this.#refuse(new ProtocolError(400), beginsWithHead(this.#rest))
  }

  readonly #onClose = (): void => {
    this.#isOver = true
    this.#setRest(undefined)
    this.#body.abort()
    this.#response?.close()
    this.#response = undefined
  }

  /** No byte has moved for `idleMs`, as far as Node noticed. */
  readonly #onIdle = (): void => {
    const { idleMs } = this.#options
    const isStalled = this.socket.writableLength > 0 || this.#body.isStarvedSince(performance.now() - idleMs)
    // A slow handler is not the client's fault.
    if (this.#response === undefined || isStalled) this.destroy()
    else this.socket.setTimeout(idleMs)
  }
}

function ignore(): void {}
