import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** Names and values in turns. A list is one header for each of its values. */
export type FlatHeaders = readonly (string | number | readonly string[])[]

/** What an answer needs to know of the connection it goes out on. */
export interface ResponseConnection {
  readonly socket: Socket
  /** HTTP/1.1, and not 1.0. */
  readonly isNew: boolean
  /** The answer to `HEAD` has a length, but no body. */
  readonly isHead: boolean
  /** Settles how long the connection is kept for the next request; undefined if it ends with this answer. */
  keep(mayKeep: boolean): string | undefined
  /** All of it is sent. */
  onSent(): void
}

const NO_NAME = /[^!#$%&'*+\-.^_`|~\dA-Za-z]/
const NO_VALUE = /[^\t -~\x80-\xff]/
/** Bytes sent as text, one character each, go out in one piece with the head; above this, copying them costs more. */
const LONGEST_WITH_HEAD = 8 * 1024
const NOTHING = Buffer.alloc(0)

/** The answer to one request. */
export class Outgoing {
  /** Of what was said last; it counts once it is begun. */
  status = 0
  readonly #way: ResponseConnection
  #listeners: (() => void)[] = []
  /** What goes out with the first byte, or with none. */
  #head: string | undefined
  #isBegun = false
  #isEnded = false
  #isSent = false
  #isClosed = false
  #isBare = false
  #isChunked = false
  /** Bytes that were announced and not written yet. */
  #left: number | undefined

  constructor(way: ResponseConnection) {
    this.#way = way
  }

  /** Whether the client can have seen any of it. */
  get isBegun(): boolean {
    return this.#isBegun
  }

  /** Whether all of it was handed over; it may still be on its way. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Whether all of it was sent. */
  get isSent(): boolean {
    return this.#isSent
  }

  /** Whether nothing more can be sent: all of it was, or the client is gone. */
  get isClosed(): boolean {
    return this.#isClosed || this.#way.socket.destroyed
  }

  /** Whether the client is gone without it. */
  get isAbandoned(): boolean {
    return this.isClosed && !this.#isSent
  }

  /** Calls back once, when it is sent or never will be. */
  onClose(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** An answer at hand. Throws before anything is sent if a header cannot be one. */
  send(status: number, headers: FlatHeaders, body: string | Buffer): void {
    const isText = typeof body === 'string'
    const length = isText ? Buffer.byteLength(body) : body.length
    const head = this.#prepare(status, headers, length)
    const { socket } = this.#way
    this.#isBegun = true
    this.#isEnded = true
    if (this.#isBare || length === 0) socket.write(head, 'latin1')
    else if (!isText && length <= LONGEST_WITH_HEAD) socket.write(head + body.toString('latin1'), 'latin1')
    else if (isText && length === body.length) socket.write(head + body, 'latin1')
    else {
      socket.cork()
      socket.write(head, 'latin1')
      socket.write(body)
      socket.uncork()
    }
    this.#whenTaken()
  }

  /** Says what goes before a body that is written bit by bit; it is sent with the first of them. Throws as `send` does. */
  begin(status: number, headers: FlatHeaders): void {
    this.#head = this.#prepare(status, headers, undefined)
  }

  /** Calls back when the system has taken the bytes, whose memory is then free, or the client is gone. */
  write(bytes: Buffer, onTaken: () => void): void {
    const { socket } = this.#way
    if (bytes.length === 0 || this.#isBare || this.isClosed) {
      onTaken()
      return
    }
    if (this.#left !== undefined) {
      this.#left -= bytes.length
      if (this.#left < 0) throw new RangeError('An answer is longer than it said')
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

  /** The end of a body that was written bit by bit. */
  end(): void {
    if (this.#isEnded || this.isClosed) return
    // The client must not take a part for the whole.
    if (this.#left !== undefined && this.#left > 0 && !this.#isBare) {
      this.destroy()
      return
    }
    this.#isEnded = true
    this.#way.socket.cork()
    this.#writeHead()
    if (this.#isChunked) this.#way.socket.write('0\r\n\r\n', 'latin1')
    this.#way.socket.uncork()
    this.#whenTaken()
  }

  /** Ends the connection in the middle of it. */
  destroy(): void {
    this.#way.socket.destroy()
  }

  /** The connection is gone. */
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
    this.#way.socket.write(this.#head, 'latin1')
    this.#head = undefined
  }

  /** Not sent before the system has it all: until then the connection is not done with this answer. */
  #whenTaken(): void {
    const { socket } = this.#way
    if (socket.writableLength === 0 && !socket.destroyed) this.#onTaken()
    else socket.write(NOTHING, (error) => error ?? this.#onTaken())
  }

  #onTaken(): void {
    if (this.#isClosed) return
    this.#isSent = true
    this.close()
    this.#way.onSent()
  }

  /** The head of the answer; `length` is that of a body at hand. */
  #prepare(status: number, headers: FlatHeaders, length: number | undefined): string {
    const { isHead, isNew } = this.#way
    const isEmpty = status === 204 || status === 304
    let announced: number | undefined
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
    for (let at = 0; at < headers.length; at += 2) {
      const name = String(headers[at])
      const value = headers[at + 1] ?? ''
      checkName(name)
      if (name === 'Content-Length') announced = Number(value)
      text += line(name, value)
    }
    if (announced === undefined && length !== undefined && !isEmpty) text += `Content-Length: ${length}\r\n`
    const isOpen = announced === undefined && length === undefined && !isEmpty
    if (isOpen && isNew) text += 'Transfer-Encoding: chunked\r\n'
    // Without either, the end of the connection is the end of the body.
    const keptFor = this.#way.keep(isNew || !isOpen)
    text +=
      keptFor === undefined ? 'Connection: close\r\n' : `Connection: keep-alive\r\nKeep-Alive: ${keptFor}\r\n`
    this.status = status
    this.#isBare = isHead || isEmpty
    if (!this.#isBare && length !== undefined && (announced ?? length) !== length) {
      throw new RangeError('An answer is not as long as it says')
    }
    this.#isChunked = isOpen && isNew && !this.#isBare
    this.#left = announced
    return `${text}Date: ${dateText()}\r\n\r\n`
  }
}

/** Names are those of our code, so few are ever looked at. */
const goodNames = new Set<string>()

function checkName(name: string): void {
  if (goodNames.has(name)) return
  if (NO_NAME.test(name)) throw new TypeError(`"${name}" cannot be the name of a header`)
  if (goodNames.size < 1000) goodNames.add(name)
}

function line(name: string, value: string | number | readonly string[]): string {
  if (typeof value === 'number') return `${name}: ${value}\r\n`
  if (typeof value !== 'string') return value.map((one) => line(name, one)).join('')
  if (NO_VALUE.test(value)) throw new TypeError(`The value of the header ${name} cannot be one`)
  return `${name}: ${value}\r\n`
}

let dateSecond = 0
let date = ''

function dateText(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    date = new Date(second * 1000).toUTCString()
  }
  return date
}
