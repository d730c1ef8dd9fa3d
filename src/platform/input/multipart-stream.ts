import { decodeUtf8 } from './form-decoding.ts'
import { GrowingBuffer } from './growing-buffer.ts'
import { filenameOf, parametersOf } from './header-parameters.ts'

/** A part of a form whose content is still arriving. Valid until the next part is requested. */
export interface StreamedPart {
  readonly name: string
  /** As sent, with any folders; undefined for a part that is not a file. */
  readonly filename: string | undefined
  /** Names in lower case. The last of several values counts. */
  readonly headers: ReadonlyMap<string, string>
  /** To be read once. Ending early is fine. */
  readonly content: AsyncIterable<Buffer>
  /** As `content`, but each chunk is valid only until the next one is requested. */
  borrowed(): AsyncIterable<Buffer>
  /** Takes the whole content if it is buffered and at most this long; otherwise nothing. */
  takeWhole(mostBytes: number): Buffer | undefined
  /** The content as text, of limited length. */
  text(): Promise<string>
}

export interface MultipartOptions {
  /** The error to throw for a malformed body, or one that exceeds the limits. */
  readonly malformed: (reason: string) => Error
  readonly maxParts?: number
  /** Bytes of all headers of a part. */
  readonly maxHeaderBytes?: number
  /** Bytes of a part read as text. */
  readonly maxTextBytes?: number
}

const blankLine = Buffer.from('\r\n\r\n')
const nothing = Buffer.alloc(0)
// Limit of the bytes after the last part, which clients do not send in practice.
const maxEpilogueBytes = 64 * 1024
const maxPreambleBytes = 64 * 1024

/**
 * Streaming parser of multipart/form-data. Buffers one chunk and never reads ahead of its consumer (backpressure).
 */
export class MultipartStream {
  readonly #read: (borrow: boolean) => Buffer | undefined | Promise<Buffer | undefined>
  readonly #delimiter: Buffer
  readonly #options: Required<MultipartOptions>
  /** Bytes read and not consumed yet. */
  #buffer: Buffer = nothing
  /** Whether the next read may overwrite them. */
  #isBorrowed = false
  #parts = 0
  #state: 'start' | 'content' | 'delimiter' | 'end' = 'start'

  /** `read` returns the next bytes, undefined at the end. Borrowed bytes may change with the next call. */
  constructor(
    read: (borrow: boolean) => Buffer | undefined | Promise<Buffer | undefined>,
    boundary: string,
    options: MultipartOptions,
  ) {
    this.#read = read
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#options = { maxParts: 10_000, maxHeaderBytes: 16 * 1024, maxTextBytes: 1024 * 1024, ...options }
  }

  /** The next part, or undefined after the last, once the whole body was read. */
  async next(): Promise<StreamedPart | undefined> {
    if (this.#state === 'start') await this.#skipPreamble()
    return this.#nextBuffered() ?? this.#nextLater()
  }

  /** The next part, if its headers and the start of its content are buffered and in the usual form. */
  #nextBuffered(): StreamedPart | undefined {
    if (this.#state === 'content') this.#wholeBuffered(Number.POSITIVE_INFINITY)
    if (this.#state !== 'delimiter') return undefined
    const buffer = this.#buffer
    const end = buffer[0] === 0x0d && buffer[1] === 0x0a ? buffer.indexOf(blankLine) : -1
    const hasContent = buffer.length - end >= this.#delimiter.length + blankLine.length
    if (end < 0 || end > this.#options.maxHeaderBytes || !hasContent) return undefined
    this.#countPart()
    this.#startContent(end + 2)
    return this.#part(buffer.subarray(0, end))
  }

  async #nextLater(): Promise<StreamedPart | undefined> {
    while (this.#state === 'content') await this.#nextPiece()
    if (this.#state === 'end' || (await this.#isLast())) return undefined
    this.#countPart()
    return this.#part(await this.#readHeaders())
  }

  #countPart(): void {
    this.#parts += 1
    if (this.#parts > this.#options.maxParts) throw this.#malformed('there are too many parts')
  }

  #part(block: Buffer): StreamedPart {
    const headers = parseHeaders(block)
    const parameters = parametersOf(headers.get('content-disposition') ?? '')
    const name = parameters.get('name')
    if (name === undefined) throw this.#malformed('a part has no name')
    const number = this.#parts
    const contentOf = (borrow: boolean) =>
      new PartContent(async () => (number === this.#parts ? this.#nextPiece(borrow) : undefined))
    const content = contentOf(false)
    const takeWhole = (mostBytes: number) =>
      number === this.#parts ? this.#wholeBuffered(mostBytes) : undefined
    const text = async () => {
      const whole = takeWhole(this.#options.maxTextBytes)
      return whole === undefined ? this.#readText(content) : decodeUtf8(whole)
    }
    const borrowed = () => contentOf(true)
    return { name, filename: filenameOf(parameters), headers, content, borrowed, takeWhole, text }
  }

  /** Consumes the rest of the current part's content, if all of it is buffered and it is not too long. */
  #wholeBuffered(mostBytes: number): Buffer | undefined {
    if (this.#state === 'delimiter') return nothing
    const end = this.#state === 'content' ? this.#buffer.indexOf(this.#delimiter) : -1
    if (end < 0 || end > mostBytes) return undefined
    const whole = this.#buffer.subarray(0, end)
    this.#endContent(end)
    return whole
  }

  /** The next available content of the current part; undefined at its end. */
  async #nextPiece(borrow = false): Promise<Buffer | undefined> {
    while (this.#state === 'content') {
      const buffer = this.#buffer
      const end = buffer.indexOf(this.#delimiter)
      if (end >= 0) {
        this.#endContent(end)
        return end > 0 ? buffer.subarray(0, end) : undefined
      }
      const ready = buffer.length - this.#heldBack(buffer)
      if (ready > 0) {
        this.#buffer = buffer.subarray(ready)
        return buffer.subarray(0, ready)
      }
      await this.#fill('a part has no end', borrow)
    }
    return undefined
  }

  /** Continues behind the delimiter at `end`. Borrowed bytes are copied, because small files are handed out without a copy. */
  #endContent(end: number): void {
    this.#state = 'delimiter'
    const rest = this.#buffer.subarray(end + this.#delimiter.length)
    this.#buffer = this.#isBorrowed ? Buffer.from(rest) : rest
    this.#isBorrowed = false
  }

  /** Number of trailing bytes that may be the start of a delimiter. */
  #heldBack(buffer: Buffer): number {
    const delimiter = this.#delimiter
    let at = buffer.indexOf(0x0d, Math.max(0, buffer.length - delimiter.length + 1))
    while (at >= 0) {
      const length = buffer.length - at
      if (buffer.compare(delimiter, 0, length, at) === 0) return length
      at = buffer.indexOf(0x0d, at + 1)
    }
    return 0
  }

  /** Up to and including the first delimiter, which has no line break if nothing precedes it. */
  async #skipPreamble(): Promise<void> {
    const first = this.#delimiter.subarray(2)
    while (
      this.#buffer.length < first.length &&
      first.subarray(0, this.#buffer.length).equals(this.#buffer)
    ) {
      if (await this.#more()) continue
      // An empty body is a form without parts.
      if (this.#buffer.length > 0) throw this.#malformed('the boundary does not occur')
      this.#state = 'end'
      return
    }
    this.#state = 'content'
    if (this.#buffer.subarray(0, first.length).equals(first)) {
      this.#buffer = this.#buffer.subarray(first.length)
      this.#state = 'delimiter'
      return
    }
    let skipped = 0
    for (let piece = await this.#nextPiece(); piece !== undefined; piece = await this.#nextPiece()) {
      skipped += piece.length
      if (skipped > maxPreambleBytes) throw this.#malformed('the boundary does not occur')
    }
  }

  /**
   * Reads what follows a delimiter: two hyphens after the last part, else optional blanks and a line break.
   */
  async #isLast(): Promise<boolean> {
    await this.#need(2)
    if (this.#buffer[0] === 0x2d && this.#buffer[1] === 0x2d) {
      await this.#skipEpilogue()
      return true
    }
    let blanks = 0
    while (this.#buffer[0] === 0x20 || this.#buffer[0] === 0x09) {
      this.#buffer = this.#buffer.subarray(1)
      blanks += 1
      if (blanks > 256) break
      await this.#need(2)
    }
    if (this.#buffer[0] !== 0x0d || this.#buffer[1] !== 0x0a) {
      throw this.#malformed('a boundary does not end its line')
    }
    return false
  }

  async #skipEpilogue(): Promise<void> {
    this.#state = 'end'
    let skipped = 0
    for (let chunk: Buffer | undefined = this.#buffer; chunk !== undefined; chunk = await this.#read(false)) {
      skipped += chunk.length
      if (skipped > maxEpilogueBytes) throw this.#malformed('something follows the last part')
    }
    this.#buffer = nothing
  }

  /** From the line break of the delimiter up to and including the blank line. */
  async #readHeaders(): Promise<Buffer> {
    const { maxHeaderBytes } = this.#options
    let end = this.#buffer.indexOf(blankLine)
    while (end < 0) {
      if (this.#buffer.length > maxHeaderBytes) throw this.#malformed('the headers of a part are too long')
      const seen = Math.max(0, this.#buffer.length - blankLine.length + 1)
      await this.#fill('a part has no end to its headers')
      end = this.#buffer.indexOf(blankLine, seen)
    }
    if (end > maxHeaderBytes) throw this.#malformed('the headers of a part are too long')
    const headers = this.#buffer.subarray(0, end)
    await this.#beginContent(end + 2)
    return headers
  }

  /** In a part without content, the blank line and the next delimiter may share a line break. */
  async #beginContent(lineBreak: number): Promise<void> {
    this.#buffer = this.#buffer.subarray(lineBreak)
    const delimiter = this.#delimiter
    while (
      this.#buffer.length < delimiter.length &&
      delimiter.subarray(0, this.#buffer.length).equals(this.#buffer)
    ) {
      await this.#fill('a part has no end')
    }
    this.#startContent(0)
  }

  /** `lineBreak` precedes the content. Enough bytes after it are buffered to detect an empty part. */
  #startContent(lineBreak: number): void {
    const after = lineBreak + this.#delimiter.length
    const isEmpty = this.#buffer.subarray(lineBreak, after).equals(this.#delimiter)
    this.#buffer = this.#buffer.subarray(isEmpty ? after : lineBreak + 2)
    this.#state = isEmpty ? 'delimiter' : 'content'
  }

  async #readText(content: AsyncIterable<Buffer>): Promise<string> {
    const collected = new GrowingBuffer()
    for await (const piece of content) {
      if (collected.length + piece.length > this.#options.maxTextBytes) {
        throw this.#malformed('a text is too long')
      }
      collected.append(piece)
    }
    return decodeUtf8(collected.bytes)
  }

  async #need(bytes: number): Promise<void> {
    while (this.#buffer.length < bytes) await this.#fill('there is no last part')
  }

  async #fill(ifNone: string, borrow = false): Promise<void> {
    if (!(await this.#more(borrow))) throw this.#malformed(ifNone)
  }

  async #more(borrow = false): Promise<boolean> {
    if (this.#isBorrowed) this.#buffer = Buffer.from(this.#buffer)
    this.#isBorrowed = borrow
    const chunk = await this.#read(borrow)
    if (chunk === undefined) return false
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    return true
  }

  #malformed(reason: string): Error {
    return this.#options.malformed(reason)
  }
}

/**
 * The content of a part. A hand-written iterator, because a generator would cost small uploads more than
 * their bytes.
 */
class PartContent implements AsyncIterableIterator<Buffer> {
  readonly #nextPiece: () => Promise<Buffer | undefined>

  constructor(nextPiece: () => Promise<Buffer | undefined>) {
    this.#nextPiece = nextPiece
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    const value = await this.#nextPiece()
    return value === undefined ? { done: true, value } : { done: false, value }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

function parseHeaders(block: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of decodeUtf8(block).split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  return headers
}
