import { checkField } from '../field-syntax.ts'
import { type FlatHeaders, noHeaders, type ResponseWriter } from '../transport.ts'

/** One response of HTTP/1 or HTTP/2. */
export interface ResponseSink {
  /** Sets the head, which is sent with the first write. May be called again before that. */
  start(status: number, headers: FlatHeaders): void
  write(bytes: string | Buffer, onTaken?: () => void): void
  /** Ends the response. `onSent` is called when the operating system has taken all of it. */
  end(body: string | Buffer | undefined, onSent: () => void): void
  destroy(): void
  readonly isDestroyed: boolean
}

/** Sends the response to one request through Node's own HTTP implementation. */
export class NodeResponse implements ResponseWriter {
  status = 0
  readonly #sink: ResponseSink
  readonly #isHead: boolean
  #listeners: (() => void)[] = []
  #isBegun = false
  #isEnded = false
  #isSent = false
  #isClosed = false
  #hasNoBody = false
  /** Bytes of an announced length that were not written yet. */
  #left: number | undefined

  constructor(sink: ResponseSink, isHead: boolean) {
    this.#sink = sink
    this.#isHead = isHead
  }

  get isBegun(): boolean {
    return this.#isBegun
  }

  /** Whether the whole response was written. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  get isSent(): boolean {
    return this.#isSent
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#sink.isDestroyed
  }

  get isAbandoned(): boolean {
    return this.isClosed && !this.#isSent
  }

  onClose(listener: () => void): void {
    this.#listeners.push(listener)
  }

  send(status: number, headers: FlatHeaders, body: string | Buffer, defaults = noHeaders): void {
    const length = Buffer.byteLength(body)
    this.#start(status, [...defaults, ...headers], length)
    this.#isBegun = true
    this.#isEnded = true
    this.#sink.end(this.#hasNoBody || length === 0 ? undefined : body, () => this.#onSent())
  }

  begin(status: number, headers: FlatHeaders, defaults = noHeaders): void {
    this.#start(status, [...defaults, ...headers], undefined)
  }

  write(bytes: Buffer, onTaken: () => void): void {
    if (bytes.length === 0 || this.#hasNoBody || this.isClosed) {
      onTaken()
      return
    }
    if (this.#left !== undefined) {
      this.#left -= bytes.length
      if (this.#left < 0) throw new RangeError('The response is longer than its Content-Length')
    }
    this.#isBegun = true
    this.#sink.write(bytes, onTaken)
  }

  end(): void {
    if (this.#isEnded || this.isClosed) return
    if (this.#left !== undefined && this.#left > 0 && !this.#hasNoBody) {
      this.destroy()
      return
    }
    this.#isBegun = true
    this.#isEnded = true
    this.#sink.end(undefined, () => this.#onSent())
  }

  destroy(): void {
    this.#sink.destroy()
  }

  /** Tells the listeners that the response is sent or the connection is closed. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const listeners = this.#listeners
    this.#listeners = []
    for (const listener of listeners) listener()
  }

  #onSent(): void {
    if (this.#isClosed) return
    this.#isSent = true
    this.close()
  }

  #start(status: number, headers: FlatHeaders, length: number | undefined): void {
    const isEmpty = status === 204 || status === 304
    let announced: number | undefined
    for (let at = 0; at < headers.length; at += 2) {
      const value = headers[at + 1] ?? ''
      checkField(String(headers[at]), value)
      if (headers[at] === 'Content-Length') announced = Number(value)
    }
    const hasNoBody = this.#isHead || isEmpty
    if (!hasNoBody && length !== undefined && (announced ?? length) !== length) {
      throw new RangeError('The length of the response differs from its Content-Length')
    }
    const addsLength = announced === undefined && length !== undefined && !isEmpty
    this.#sink.start(status, addsLength ? [...headers, 'Content-Length', length] : headers)
    this.status = status
    this.#hasNoBody = hasNoBody
    this.#left = announced
  }
}
