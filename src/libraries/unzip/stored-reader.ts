import { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { RandomAccessReader } from 'yauzl'
import type { StoredBytes } from '../content/index.ts'

/** Small reads are served from a window of this size, because headers are read a few bytes at a time. */
const WINDOW_BYTES = 128 * 1024

/** Random access to a stored file for the zip library. */
export class StoredReader extends RandomAccessReader {
  readonly #stored: StoredBytes
  #window: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) }
  /** The first error of the storage, as opposed to one of the archive. */
  failure: Error | undefined

  constructor(stored: StoredBytes) {
    super()
    this.#stored = stored
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    const copy = async () => {
      let at = offset
      for await (const bytes of this.#chunks(position, position + length)) at += bytes.copy(buffer, at)
    }
    callbackify(copy)(callback)
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#chunks(start, end), { objectMode: false })
  }

  async *#chunks(start: number, end: number): AsyncGenerator<Buffer, void> {
    // Not an error of the storage.
    if (end > this.#stored.size) throw new Error('The archive ends early')
    try {
      if (end - start > WINDOW_BYTES) {
        // A chunk is valid only until the next one is requested.
        for await (const bytes of this.#stored.read({ start, end })) yield Buffer.from(bytes)
        return
      }
      const window = await this.#windowFor(start, end)
      yield window.bytes.subarray(start - window.start, end - window.start)
    } catch (error) {
      this.failure ??= error instanceof Error ? error : new Error(String(error))
      throw error
    }
  }

  async #windowFor(start: number, end: number) {
    const { start: from, bytes } = this.#window
    if (start >= from && end <= from + bytes.length) return this.#window
    const until = Math.min(start + WINDOW_BYTES, this.#stored.size)
    const chunks: Buffer[] = []
    for await (const chunk of this.#stored.read({ start, end: until })) chunks.push(Buffer.from(chunk))
    const window = { start, bytes: Buffer.concat(chunks) }
    this.#window = window
    return window
  }
}
