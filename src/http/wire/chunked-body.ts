import { WireError } from './wire-error.ts'

const LF = 0x0a
/** Of the line before a chunk, and of all lines behind the last one. */
const LONGEST_LINES = 4096

type State = 'size' | 'bytes' | 'gap' | 'trailers' | 'done'

/** Takes the bytes of a body out of the chunks it comes in. */
export class ChunkedBody {
  #state: State = 'size'
  /** Of the chunk that is coming in. */
  #left = 0
  /** A line that is not all there yet. */
  #line = ''
  #trailerBytes = 0

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /** Gives the bytes of the body in `sent` to `take`, and returns how far they reach. Throws a `WireError`. */
  feed(sent: Buffer, take: (bytes: Buffer) => void): number {
    let at = 0
    while (at < sent.length && this.#state !== 'done') {
      if (this.#state === 'bytes') {
        const bytes = sent.subarray(at, at + this.#left)
        this.#left -= bytes.length
        at += bytes.length
        if (this.#left === 0) this.#state = 'gap'
        take(bytes)
      } else at = this.#readLine(sent, at)
    }
    return at
  }

  #readLine(sent: Buffer, from: number): number {
    const found = sent.indexOf(LF, from)
    const end = found === -1 ? sent.length : found + 1
    this.#line += sent.toString('latin1', from, end)
    if (this.#line.length > LONGEST_LINES) throw new WireError(400)
    if (found !== -1) {
      if (!this.#line.endsWith('\r\n')) throw new WireError(400)
      const line = this.#line.slice(0, -2)
      this.#line = ''
      this.#onLine(line)
    }
    return end
  }

  #onLine(line: string): void {
    if (this.#state === 'gap') {
      if (line !== '') throw new WireError(400)
      this.#state = 'size'
    } else if (this.#state === 'size') {
      // An extension means nothing to us; it may hold no line break of its own.
      const size = /^([\da-f]{1,12})(?:[ \t]*;[\t -~]*)?$/i.exec(line)?.[1]
      if (size === undefined) throw new WireError(400)
      this.#left = Number.parseInt(size, 16)
      this.#state = this.#left === 0 ? 'trailers' : 'bytes'
    } else {
      this.#trailerBytes += line.length
      if (this.#trailerBytes > LONGEST_LINES) throw new WireError(400)
      if (line === '') this.#state = 'done'
    }
  }
}
