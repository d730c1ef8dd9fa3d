import net from 'node:net'
import tls from 'node:tls'
import type { Address } from './address.ts'
import { ChunkedBody } from './chunked-body.ts'

/** Size of the one read buffer, which is reused so that large responses cost the generator little CPU time. */
const READ_BYTES = 256 * 1024

/** One response. The body is kept only for an unexpected status. */
export interface RawResponse {
  readonly status: number
  readonly bytes: number
  readonly unexpected: string | undefined
}

/**
 * A keep-alive connection with at most one request in flight. It parses only status and length of a response, so that
 * the load generator stays much cheaper than the server it measures.
 */
export class Connection {
  readonly #socket: net.Socket
  readonly #expectedStatus: number
  #head: Buffer | undefined
  /** Remaining bytes of the body; undefined while the head is read. */
  #missing: number | undefined
  /** A body without a length. */
  #chunked: ChunkedBody | undefined
  #status = 0
  #bytes = 0
  #kept: Buffer[] = []
  #onResponse: ((response: RawResponse) => void) | undefined
  #onError: ((error: Error) => void) | undefined

  private constructor({ host, port, secure = false }: Address, expectedStatus: number) {
    this.#expectedStatus = expectedStatus
    const take = (length: number, buffer: Uint8Array) => {
      this.#take(Buffer.from(buffer.buffer, buffer.byteOffset, length))
      return true
    }
    const onread = { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback: take }
    // An address of numbers has no name that could be announced.
    const options = { host, port, noDelay: true, onread, ...(net.isIP(host) === 0 && { servername: host }) }
    this.#socket = secure ? tls.connect(options) : net.connect(options)
    this.#socket.on('error', (error) => this.#onError?.(error))
    this.#socket.on('close', () => this.#onError?.(new Error('the server closed a connection')))
  }

  static open(address: Address, expectedStatus: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const connection = new Connection(address, expectedStatus)
      connection.#onError = reject
      connection.#socket.once(address.secure ? 'secureConnect' : 'connect', () => {
        connection.#onError = undefined
        resolve(connection)
      })
    })
  }

  send(request: Buffer, onResponse: (response: RawResponse) => void, onError: (error: Error) => void): void {
    this.#onResponse = onResponse
    this.#onError = onError
    this.#socket.write(request)
  }

  /** Waits for the response to a request that is written piece by piece. */
  response(): Promise<RawResponse> {
    return new Promise((resolve, reject) => {
      this.#onResponse = resolve
      this.#onError = reject
    })
  }

  /** Resolves when the buffer may be reused; never, if the connection breaks. */
  write(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(bytes, (error) => {
        if (!error) resolve()
      })
    })
  }

  close(): void {
    this.#onError = undefined
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    const body = this.#missing === undefined ? this.#takeHead(chunk) : chunk
    if (body === undefined || this.#missing === undefined) return
    if (this.#status !== this.#expectedStatus) this.#kept.push(Buffer.from(body))
    if (this.#chunked !== undefined) {
      if (this.#chunked.take(body)) this.#finish()
      return
    }
    this.#missing -= body.length
    if (this.#missing < 0) this.#onError?.(new Error('a response is longer than its Content-Length'))
    if (this.#missing === 0) this.#finish()
  }

  /** Returns the first bytes of the body once the head is complete. */
  #takeHead(chunk: Buffer): Buffer | undefined {
    const bytes = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk])
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#head = Buffer.from(bytes)
      return undefined
    }
    this.#head = undefined
    const text = bytes.toString('latin1', 0, end)
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
    const isChunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(text)
    this.#chunked = isChunked ? new ChunkedBody() : undefined
    if (length === undefined && !isChunked) {
      this.#onError?.(new Error(`a response has no length:\n${text}`))
      return undefined
    }
    this.#status = Number(text.slice(9, 12))
    this.#bytes = Number(length ?? 0)
    this.#missing = this.#bytes
    return bytes.subarray(end + 4)
  }

  #finish(): void {
    const unexpected =
      this.#status === this.#expectedStatus ? undefined : Buffer.concat(this.#kept).toString().slice(0, 500)
    this.#missing = undefined
    if (unexpected !== undefined) this.#kept = []
    const bytes = this.#chunked?.bytes ?? this.#bytes
    this.#onResponse?.({ status: this.#status, bytes, unexpected })
  }
}
