import { ProtocolError } from '../protocol-error.ts'
import { isField } from './header-block.ts'

const CR = 0x0d
const LF = 0x0a
/** The value of each byte as a hex digit; -1 for all others. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) => {
  const text = String.fromCharCode(byte)
  return /[\da-f]/i.test(text) ? Number.parseInt(text, 16) : -1
})
/** Largest chunk-size line, and largest trailer section, in bytes. */
const MAX_LINE_BYTES = 4096
/** Most bytes of chunk extensions in one body. Clients do not use them, so they must not multiply the cost of a body. */
const MAX_EXTENSION_BYTES = 16 * 1024

const TOKEN = "[!#$%&'*+\\-.^_`|~\\dA-Za-z]+"
const QUOTED = '"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"'
const SIZE_LINE = new RegExp(`^([\\da-f]{1,12})((?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*)$`, 'i')

type State = 'size' | 'bytes' | 'gap' | 'trailers' | 'done'

/** Decodes the chunked transfer coding. */
export class ChunkedDecoder {
  #state: State = 'size'
  /** Bytes of the current chunk still to come. */
  #left = 0
  /** An incomplete line. */
  #line = ''
  #extensionBytes = 0
  #trailerBytes = 0

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /**
   * Passes the body bytes in `sent` to `take`, and returns how many bytes belong to the body. Throws a `ProtocolError`.
   * All chunks in `sent` become one piece, moved together in place: one object per chunk would take a hundred times the
   * size of a body that is sent in chunks of one byte.
   */
  feed(sent: Buffer, take: (bytes: Buffer) => void): number {
    let at = 0
    let start = 0
    let end = 0
    while (at < sent.length && this.#state !== 'done') {
      if (this.#state !== 'bytes') {
        at = this.#skipSimpleLine(sent, at) ?? this.#readLine(sent, at)
        continue
      }
      const length = Math.min(this.#left, sent.length - at)
      if (end === start) start = end = at
      else if (length === 1) sent[end] = sent[at] ?? 0
      else sent.copyWithin(end, at, at + length)
      end += length
      at += length
      this.#left -= length
      if (this.#left === 0) this.#state = 'gap'
    }
    if (end > start) take(compact(sent, start, end))
    return at
  }

  /** The end of a complete chunk-size line without extensions, or of the line break after a chunk; else undefined. */
  #skipSimpleLine(sent: Buffer, from: number): number | undefined {
    if (this.#line !== '' || this.#state === 'trailers') return undefined
    let at = from
    let size = 0
    if (this.#state === 'size') {
      for (let digit = HEX[sent[at] ?? 0] ?? -1; digit >= 0; digit = HEX[sent[at] ?? 0] ?? -1) {
        size = size * 16 + digit
        at += 1
      }
      // Long sizes and the last chunk take the slow path.
      if (at === from || at - from > 7 || size === 0) return undefined
    }
    if (sent[at] !== CR || sent[at + 1] !== LF) return undefined
    this.#left = size
    this.#state = this.#state === 'size' ? 'bytes' : 'size'
    return at + 2
  }

  #readLine(sent: Buffer, from: number): number {
    const found = sent.indexOf(LF, from)
    const end = found === -1 ? sent.length : found + 1
    if (this.#line.length + end - from > MAX_LINE_BYTES) throw new ProtocolError(400)
    this.#line += sent.toString('latin1', from, end)
    if (found !== -1) {
      if (!this.#line.endsWith('\r\n')) throw new ProtocolError(400)
      const line = this.#line.slice(0, -2)
      this.#line = ''
      this.#onLine(line)
    }
    return end
  }

  #onLine(line: string): void {
    if (this.#state === 'gap') {
      if (line !== '') throw new ProtocolError(400)
      this.#state = 'size'
    } else if (this.#state === 'size') this.#onSize(line)
    else this.#onTrailer(line)
  }

  /** Extensions are validated and ignored. */
  #onSize(line: string): void {
    const [, size, extensions = ''] = SIZE_LINE.exec(line) ?? []
    this.#extensionBytes += extensions.length
    if (size === undefined || this.#extensionBytes > MAX_EXTENSION_BYTES) throw new ProtocolError(400)
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left === 0 ? 'trailers' : 'bytes'
  }

  /** Trailers are validated and ignored. Fields for framing and routing are forbidden (RFC 9110, 6.5.1). */
  #onTrailer(line: string): void {
    this.#trailerBytes += line.length
    if (this.#trailerBytes > MAX_LINE_BYTES) throw new ProtocolError(400)
    if (line === '') this.#state = 'done'
    else if (!isField(line) || FORBIDDEN_TRAILER.test(line)) throw new ProtocolError(400)
  }
}

const FORBIDDEN_TRAILER = /^(?:transfer-encoding|content-length|host):/i

/** Copies a small part of a large buffer, so that it does not retain all of it. */
function compact(sent: Buffer, start: number, end: number): Buffer {
  const bytes = sent.subarray(start, end)
  return bytes.length * 2 < sent.length ? Buffer.from(bytes) : bytes
}
