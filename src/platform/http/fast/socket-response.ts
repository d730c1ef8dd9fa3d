import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { checkField } from '../field-syntax.ts'
import { currentHttpDate } from '../http-date.ts'
import { type FlatHeaders, noHeaders, type ResponseWriter } from '../transport.ts'

/** The connection a response is sent on. */
export interface ResponseConnection {
  readonly socket: Socket
  /** HTTP/1.1, not 1.0. */
  readonly isHttp11: boolean
  /** A response to `HEAD` has a length, but no body. */
  readonly isHead: boolean
  /** The value of the `Keep-Alive` field; undefined if the connection ends with this response. */
  keepAlive(mayKeep: boolean): string | undefined
  /** The whole response is sent. */
  onSent(): void
}

/** Up to this size a body is sent in one write with the head. Above it, copying costs more than a second write. */
const MAX_WITH_HEAD = 8 * 1024
const NOTHING = Buffer.alloc(0)

/** Sends the response to one request of a connection with our own parser. */
export class SocketResponse implements ResponseWriter {
  status = 0
  readonly #connection: ResponseConnection
  #listeners: (() => void)[] = []
  /** Sent with the first write, or alone. */
  #head: string | undefined
  #isBegun = false
  #isEnded = false
  #isSent = false
  #isClosed = false
  #hasNoBody = false
  #isChunked = false
  /** Bytes of an announced length that were not written yet. */
  #left: number | undefined

  constructor(connection: ResponseConnection) {
    this.#connection = connection
  }

  get isBegun(): boolean {
    return this.#isBegun
  }

  /** Whether the whole response was written; the socket may still hold part of it. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  get isSent(): boolean {
    return this.#isSent
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#connection.socket.destroyed
  }

  get isAbandoned(): boolean {
    return this.isClosed && !this.#isSent
  }

  onClose(listener: () => void): void {
    this.#listeners.push(listener)
  }

  send(status: number, headers: FlatHeaders, body: string | Buffer, defaults = noHeaders): void {
    const isText = typeof body === 'string'
    const length = isText ? Buffer.byteLength(body) : body.length
    const head = this.#prepare(status, headers, length, defaults)
    const { socket } = this.#connection
    this.#isBegun = true
    this.#isEnded = true
    if (this.#hasNoBody || length === 0) socket.write(head, 'latin1')
    else if (!isText && length <= MAX_WITH_HEAD) socket.write(head + body.toString('latin1'), 'latin1')
    else if (isText && length === body.length) socket.write(head + body, 'latin1')
    else {
      socket.cork()
      socket.write(head, 'latin1')
      socket.write(body)
      socket.uncork()
    }
    this.#whenTaken()
  }

  begin(status: number, headers: FlatHeaders, defaults = noHeaders): void {
    this.#head = this.#prepare(status, headers, undefined, defaults)
  }

  write(bytes: Buffer, onTaken: () => void): void {
    const { socket } = this.#connection
    if (bytes.length === 0 || this.#hasNoBody || this.isClosed) {
      onTaken()
      return
    }
    if (this.#left !== undefined) {
      this.#left -= bytes.length
      if (this.#left < 0) throw new RangeError('The response is longer than its Content-Length')
    }
    socket.cork()
    this.#writeHead()
    if (this.#isChunked) {
      socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
      socket.write(bytes)
      socket.write('\r\n', 'latin1', onTaken)
    } else socket.write(bytes, onTaken)
    socket.uncork()
  }

  end(): void {
    if (this.#isEnded || this.isClosed) return
    // The client must not take a part for the whole.
    if (this.#left !== undefined && this.#left > 0 && !this.#hasNoBody) {
      this.destroy()
      return
    }
    this.#isEnded = true
    this.#connection.socket.cork()
    this.#writeHead()
    if (this.#isChunked) this.#connection.socket.write('0\r\n\r\n', 'latin1')
    this.#connection.socket.uncork()
    this.#whenTaken()
  }

  destroy(): void {
    this.#connection.socket.destroy()
  }

  /** Tells the listeners that the response is sent or the connection is closed. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const listeners = this.#listeners
    this.#listeners = []
    for (const listener of listeners) listener()
  }

  #writeHead(): void {
    this.#isBegun = true
    if (this.#head === undefined) return
    this.#connection.socket.write(this.#head, 'latin1')
    this.#head = undefined
  }

  /** A response is sent when the operating system has taken all of it. */
  #whenTaken(): void {
    const { socket } = this.#connection
    if (socket.writableLength === 0 && !socket.destroyed) this.#onTaken()
    else socket.write(NOTHING, (error) => error ?? this.#onTaken())
  }

  #onTaken(): void {
    if (this.#isClosed) return
    this.#isSent = true
    this.close()
    this.#connection.onSent()
  }

  /** The response head; `length` is that of a body in memory. */
  #prepare(status: number, headers: FlatHeaders, length: number | undefined, defaults: FlatHeaders): string {
    const { isHead, isHttp11 } = this.#connection
    const isEmpty = status === 204 || status === 304
    let announced: number | undefined
    let text = beginningOf(status, defaults)
    for (let at = 0; at < headers.length; at += 2) {
      const name = String(headers[at])
      const value = headers[at + 1] ?? ''
      checkField(name, value)
      if (name === 'Content-Length') announced = Number(value)
      text += line(name, value)
    }
    if (announced === undefined && length !== undefined && !isEmpty) text += `Content-Length: ${length}\r\n`
    const isOpen = announced === undefined && length === undefined && !isEmpty
    if (isOpen && isHttp11) text += 'Transfer-Encoding: chunked\r\n'
    // HTTP/1.0 has no chunks, so a body without a length ends with the connection.
    const keepAlive = this.#connection.keepAlive(isHttp11 || !isOpen)
    text +=
      keepAlive === undefined
        ? 'Connection: close\r\n'
        : `Connection: keep-alive\r\nKeep-Alive: ${keepAlive}\r\n`
    this.status = status
    this.#hasNoBody = isHead || isEmpty
    if (!this.#hasNoBody && length !== undefined && (announced ?? length) !== length) {
      throw new RangeError('The length of the response differs from its Content-Length')
    }
    this.#isChunked = isOpen && isHttp11 && !this.#hasNoBody
    this.#left = announced
    return `${text}Date: ${currentHttpDate()}\r\n\r\n`
  }
}

/** The status line and default headers, by the list of these and the status. */
const beginnings = new WeakMap<FlatHeaders, Map<number, string>>()

function beginningOf(status: number, defaults: FlatHeaders): string {
  let known = beginnings.get(defaults)
  if (known === undefined) beginnings.set(defaults, (known = new Map()))
  let text = known.get(status)
  if (text === undefined) {
    text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
    for (let at = 0; at < defaults.length; at += 2) {
      const name = String(defaults[at])
      const value = defaults[at + 1] ?? ''
      checkField(name, value)
      text += line(name, value)
    }
    known.set(status, text)
  }
  return text
}

function line(name: string, value: string | number | readonly string[]): string {
  if (typeof value === 'number') return `${name}: ${value}\r\n`
  if (typeof value !== 'string') return value.map((one) => line(name, one)).join('')
  return `${name}: ${value}\r\n`
}
