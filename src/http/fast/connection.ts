import type { Socket } from 'node:net'
import { tooSlow } from '../body-memory.ts'
import { ProtocolError } from '../protocol-error.ts'
import type { ReceiveMemory } from '../receive-memory.ts'
import { WriteProgress } from '../write-progress.ts'
import type { PipelineQueue } from './pipeline-queue.ts'
import { HeadReader, isEmptyLine, type RequestHead } from './request-head.ts'
import { IncomingBody } from './socket-body.ts'
import { Outgoing, type ResponseConnection } from './socket-response.ts'

/** A request as it came in. */
export interface Incoming {
  readonly head: RequestHead
  readonly socket: Socket
  readonly body: IncomingBody
}

/** What connections of one server have in common; times in milliseconds. */
export interface ConnectionRules {
  readonly keepAliveMs: number
  readonly idleMs: number
  readonly headersMs: number
  /** Fewest bytes a second of a body somebody waits for, and of an answer that waits for its client. */
  readonly leastRate: number
  /** The rate is an average over so long. */
  readonly rateWindowMs: number
  readonly memory: ReceiveMemory
  readonly pipeline: PipelineQueue
  /** Whether connections are to end with the answer they wait for. */
  isClosing(): boolean
  serve(incoming: Incoming, outgoing: Outgoing): void
  /** Takes over a connection that asks for another protocol; false if it is to be ignored. */
  upgrade(head: RequestHead, socket: Socket, rest: Buffer): boolean
  /** Told of errors that nobody expected; the connection is closed, and no other is affected. */
  onError(error: unknown): void
}

/** Bytes of a refused body worth reading to the end for the connection's sake. */
export const DRAIN_LIMIT = 8 * 1024 * 1024
/** How long a connection is read that was ended on our side: closed at once, it could lose the answer on the way. */
const LINGER_MS = 5_000
/** Bytes of pipelined requests that are received before their turn. */
const MOST_AHEAD = 16 * 1024
/** Seconds after which a client may try again that is refused for lack of memory. */
const RETRY_SECONDS = 10
/** Clients are told a little less than we wait, so that they do not call as we hang up. */
const KEPT_LONGER_MS = 1000

/**
 * One connection of a client: one request after another, each answered before the next is looked at. HTTP/1.1 as in RFC 9112;
 * whatever could be read in two ways is refused.
 */
export class Connection implements ResponseConnection {
  readonly socket: Socket
  /** Of the request that is being answered. */
  isNew = true
  isHead = false
  readonly #rules: ConnectionRules
  readonly #heads = new HeadReader()
  /** What came in and was not read yet. */
  #rest: Buffer | undefined
  #body = IncomingBody.none
  /** The answer that is owed. */
  #outgoing: Outgoing | undefined
  #keeps = false
  /** When its last answer was sent; undefined before that and while one is owed. */
  #waitingSince: number | undefined
  /** When the first byte came of a head that is not all there. */
  #headSince: number | undefined
  /** Whether its next request waits for its turn. */
  #isQueued = false
  readonly #progress: WriteProgress
  /** Nothing that still comes in matters. */
  #isOver = false
  #linger: NodeJS.Timeout | undefined

  constructor(socket: Socket, rules: ConnectionRules) {
    this.socket = socket
    this.#rules = rules
    this.#progress = new WriteProgress(socket)
    socket.setTimeout(rules.idleMs)
    socket.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose)
    // What breaks a connection closes it.
    socket.on('timeout', this.#onIdle).on('error', ignore)
  }

  /** Whether an answer is owed or on its way. */
  get isAnswering(): boolean {
    return this.#outgoing !== undefined
  }

  /** Ends it if its client takes too long: to ask, to send all of a head, to send a body, or to take an answer. */
  sweep(now: number): void {
    const { keepAliveMs, headersMs, leastRate, rateWindowMs } = this.#rules
    const keptMs = keepAliveMs + Math.min(KEPT_LONGER_MS, keepAliveMs)
    if (this.#headSince !== undefined && now - this.#headSince > headersMs)
      this.#refuse(new ProtocolError(408))
    else if (this.#waitingSince !== undefined && now - this.#waitingSince > keptMs) this.destroy()
    else if (this.#progress.isSlow(now, leastRate, rateWindowMs)) this.destroy()
    else if (this.#body.isSlow(now, leastRate, rateWindowMs)) this.#endSlowBody()
  }

  #endSlowBody(): void {
    this.#keeps = false
    if (!this.#body.fail(tooSlow())) this.destroy()
  }

  destroy(): void {
    this.socket.destroy()
  }

  readonly #onData = (bytes: Buffer): void => {
    try {
      this.#take(bytes)
    } catch (error) {
      this.#onFault(error)
    }
  }

  #take(bytes: Buffer): void {
    if (this.#isOver && this.#body.isComplete) return
    let rest = bytes
    if (!this.#body.isComplete) {
      const used = this.#push(bytes)
      if (used === undefined) return
      rest = bytes.subarray(used)
      if (this.#body.dropped > DRAIN_LIMIT) this.destroy()
      else if (this.#body.isComplete && this.#outgoing?.isSent) this.onSent()
    }
    if (rest.length > 0 && !this.#isOver) {
      this.#setRest(this.#rest === undefined ? rest : Buffer.concat([this.#rest, rest]))
      if (this.#outgoing === undefined && !this.#isQueued) this.#readNext()
      else if ((this.#rest?.length ?? 0) > MOST_AHEAD) this.socket.pause()
    }
    if (this.#rest !== undefined && this.#rules.memory.isFull) this.#refuseForMemory()
  }

  #refuseForMemory(): void {
    if (this.#outgoing === undefined) this.#refuse(new ProtocolError(503, RETRY_SECONDS))
    else this.destroy()
  }

  #setRest(rest: Buffer | undefined): void {
    this.#rules.memory.change((rest?.length ?? 0) - (this.#rest?.length ?? 0))
    this.#rest = rest
  }

  /** A bug of ours: it costs this connection, and no other. */
  #onFault(error: unknown): void {
    this.#rules.onError(error)
    this.destroy()
  }

  /** Undefined for bytes that cannot be a body: what was made of it so far must not be taken for the whole. */
  #push(bytes: Buffer): number | undefined {
    try {
      return this.#body.push(bytes)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.destroy()
      return undefined
    }
  }

  /** The next request is there: it is served when it is this connection's turn. */
  #queueNext(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#rules.pipeline.add(() => {
      this.#isQueued = false
      try {
        this.#readNext()
      } catch (error) {
        this.#onFault(error)
      }
    })
  }

  #readNext(): void {
    if (this.#outgoing !== undefined || this.#rest === undefined || this.#isOver) return
    if (!this.#readRequest(this.#rest) && this.socket.isPaused()) this.socket.resume()
  }

  /** Whether there was one. */
  #readRequest(bytes: Buffer): boolean {
    try {
      const read = this.#heads.read(bytes)
      if (read === undefined) {
        if (!isEmptyLine(bytes)) this.#headSince ??= performance.now()
        return false
      }
      this.#headSince = undefined
      this.#waitingSince = undefined
      this.#setRest(read.end === bytes.length ? undefined : bytes.subarray(read.end))
      this.#begin(read.head)
      return true
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#refuse(error)
      return false
    }
  }

  #begin(head: RequestHead): void {
    const { connection, framing, expectsContinue } = head.headers
    if (connection.has('upgrade') && this.#handOver(head)) return
    this.#keeps = head.isNew ? !connection.has('close') : connection.has('keep-alive')
    this.#body = IncomingBody.none
    if (framing.length !== 0) {
      const invite = expectsContinue && head.isNew ? () => this.#invite() : undefined
      this.#body = new IncomingBody(framing, { socket: this.socket, memory: this.#rules.memory, invite })
      if (this.#rest !== undefined) {
        const rest = this.#rest.subarray(this.#body.push(this.#rest))
        this.#setRest(rest.length === 0 ? undefined : rest)
      }
    }
    this.isNew = head.isNew
    this.isHead = head.method === 'HEAD'
    const outgoing = new Outgoing(this)
    this.#outgoing = outgoing
    this.#rules.serve({ head, socket: this.socket, body: this.#body }, outgoing)
  }

  #invite(): void {
    if (this.#outgoing?.isBegun === false) this.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1')
  }

  keep(mayKeep: boolean): string | undefined {
    const body = this.#body
    const isTooMuch = !body.isComplete && (body.length === undefined || body.left > DRAIN_LIMIT)
    this.#keeps &&= mayKeep && !isTooMuch && !body.isHeldBack && !this.#rules.isClosing()
    return this.#keeps ? `timeout=${Math.floor(this.#rules.keepAliveMs / 1000)}` : undefined
  }

  /** The answer is sent; the rest of the body may still be coming. */
  onSent(): void {
    if (!this.#keeps) this.#finish()
    else if (!this.#body.isComplete) this.#body.drop()
    else {
      this.#outgoing = undefined
      this.#waitingSince = performance.now()
      if (this.#rest !== undefined) this.#queueNext()
      else if (this.socket.isPaused()) this.socket.resume()
    }
  }

  /** Ends our side, and all of it as soon as nothing said by either side can be lost. */
  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#outgoing = undefined
    if (this.#body.isComplete && this.#rest === undefined) {
      this.socket.destroySoon()
      return
    }
    this.#setRest(undefined)
    this.#body.drop()
    this.socket.resume()
    this.socket.end()
    this.#linger = setTimeout(() => this.destroy(), LINGER_MS)
  }

  #refuse(error: ProtocolError): void {
    this.#headSince = undefined
    this.#setRest(Buffer.alloc(0))
    this.#body.abort()
    this.#body = IncomingBody.none
    this.socket.write(error.text, 'latin1')
    this.#finish()
  }

  #handOver(head: RequestHead): boolean {
    const socket = this.socket
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onIdle)
    socket.setTimeout(0)
    if (this.#rules.upgrade(head, socket, this.#rest ?? Buffer.alloc(0))) {
      this.#isOver = true
      this.#setRest(undefined)
      // Errors go on being ignored: whoever took it over may not listen at all times, and an error nobody listens to
      // ends the process.
      return true
    }
    socket.on('data', this.#onData).on('end', this.#onEnd).on('timeout', this.#onIdle)
    socket.setTimeout(this.#rules.idleMs)
    return false
  }

  /** The client will say no more. */
  readonly #onEnd = (): void => {
    const outgoing = this.#outgoing
    if (outgoing === undefined && !this.#isOver) {
      if (this.#rest === undefined || isEmptyLine(this.#rest)) this.socket.destroySoon()
      else this.#refuse(new ProtocolError(400))
    } else if (outgoing?.isEnded === true && this.#body.isComplete) this.#keeps = false
    else this.destroy()
  }

  readonly #onClose = (): void => {
    clearTimeout(this.#linger)
    this.#isOver = true
    this.#setRest(undefined)
    this.#body.abort()
    this.#outgoing?.close()
    this.#outgoing = undefined
  }

  /** No byte has moved for a while, as far as Node saw. */
  readonly #onIdle = (): void => {
    const { idleMs } = this.#rules
    const isStalled = this.socket.writableLength > 0 || this.#body.isStarvedSince(performance.now() - idleMs)
    // It is not the client's fault if we are slow.
    if (this.#outgoing === undefined || isStalled) this.destroy()
    else this.socket.setTimeout(idleMs)
  }
}

function ignore(): void {}
