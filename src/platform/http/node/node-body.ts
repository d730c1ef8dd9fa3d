import type { Readable } from 'node:stream'
import { BufferedBody, type BufferedBodyOptions } from '../buffered-body.ts'

interface NodeBodyOptions extends BufferedBodyOptions {
  /** Stops and restarts the flow of bytes from the client. */
  readonly pause: () => void
  readonly resume: () => void
}

/** A request body that Node's parser has decoded. */
export class NodeBody extends BufferedBody {
  readonly #options: NodeBodyOptions
  #isEnded: boolean

  constructor(stream: Readable, options: NodeBodyOptions) {
    super(options)
    this.#options = options
    this.#isEnded = options.length === 0
    if (this.#isEnded) {
      stream.resume()
      return
    }
    // Bytes are taken at once, into buffers of our own. The stream would keep an object per chunk, which for chunks of
    // one byte takes a hundred times the size of the body.
    stream.on('data', (piece: Buffer) => this.add(piece))
    stream.once('end', () => {
      this.#isEnded = true
      this.wakeReader()
    })
  }

  get isComplete(): boolean {
    return this.#isEnded
  }

  /** Bytes of an announced length still to come. */
  get left(): number {
    return this.#isEnded ? 0 : (this.length ?? 0) - this.received
  }

  /** Whether a reader would have to wait for the client. */
  get isStarved(): boolean {
    return !this.isComplete && this.pieces.bytes === 0
  }

  protected pauseSource(): void {
    this.#options.pause()
  }

  protected resumeSource(): void {
    this.#options.resume()
  }
}
