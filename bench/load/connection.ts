import net from 'node:net'

/** Read at once at most, always into the same memory: long answers must not cost the generator its time. */
const READ_BYTES = 256 * 1024

/** One answer. The body is kept only where the status is not the wanted one. */
export interface RawAnswer {
  readonly status: number
  readonly bytes: number
  readonly unwanted: string | undefined
}

/**
 * A kept-alive connection with at most one request under way. It reads no more of an answer than its
 * status and length, so that the load generator stays far cheaper than any server it measures.
 */
export class Connection {
  readonly #socket: net.Socket
  readonly #wanted: number
  #head: Buffer | undefined
  /** Bytes of the body still to come; undefined while the head is read. */
  #missing: number | undefined
  #status = 0
  #bytes = 0
  #kept: Buffer[] = []
  #onAnswer: ((answer: RawAnswer) => void) | undefined
  #onError: ((error: Error) => void) | undefined

  private constructor(host: string, port: number, wanted: number) {
    this.#wanted = wanted
    const take = (length: number, buffer: Uint8Array) => {
      this.#take(Buffer.from(buffer.buffer, buffer.byteOffset, length))
      return true
    }
    const onread = { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback: take }
    this.#socket = net.connect({ host, port, noDelay: true, onread })
    this.#socket.on('error', (error) => this.#onError?.(error))
    this.#socket.on('close', () => this.#onError?.(new Error('the server closed a connection')))
  }

  static open(host: string, port: number, wanted: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const connection = new Connection(host, port, wanted)
      connection.#onError = reject
      connection.#socket.once('connect', () => {
        connection.#onError = undefined
        resolve(connection)
      })
    })
  }

  send(request: Buffer, onAnswer: (answer: RawAnswer) => void, onError: (error: Error) => void): void {
    this.#onAnswer = onAnswer
    this.#onError = onError
    this.#socket.write(request)
  }

  /** Waits for the answer to a request that is written piece by piece. */
  answer(): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      this.#onAnswer = resolve
      this.#onError = reject
    })
  }

  /** Resolves when the bytes are on their way and may change again; if the connection breaks, never. */
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
    this.#missing -= body.length
    if (this.#status !== this.#wanted) this.#kept.push(Buffer.from(body))
    if (this.#missing < 0) this.#onError?.(new Error('an answer is longer than its Content-Length'))
    if (this.#missing === 0) this.#finish()
  }

  /** The first bytes of the body, once the head is whole. */
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
    if (length === undefined) {
      this.#onError?.(new Error(`an answer has no Content-Length:\n${text}`))
      return undefined
    }
    this.#status = Number(text.slice(9, 12))
    this.#bytes = Number(length)
    this.#missing = this.#bytes
    return bytes.subarray(end + 4)
  }

  #finish(): void {
    const unwanted =
      this.#status === this.#wanted ? undefined : Buffer.concat(this.#kept).toString().slice(0, 500)
    this.#missing = undefined
    if (unwanted !== undefined) this.#kept = []
    this.#onAnswer?.({ status: this.#status, bytes: this.#bytes, unwanted })
  }
}
