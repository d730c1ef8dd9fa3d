import type { Chunks } from '../responses/index.ts'

/**
 * Reads the first chunk. Returns it alone if it is the whole source, else all chunks, the first one included.
 */
export async function startChunks(
  source: AsyncGenerator<Buffer, void>,
  length: number,
): Promise<Buffer | Chunks> {
  const first = await source.next()
  if (first.done === true) throw new Error('a source of bytes ended before it began')
  if (first.value.length < length) return new StartedChunks(first.value, source, length)
  await source.return()
  return first.value
}

/** A source whose first chunk was already read. Throws if it has fewer or more bytes than announced. */
class StartedChunks implements Chunks {
  readonly #source: AsyncGenerator<Buffer, void>
  #first: Buffer | undefined
  #left: number

  constructor(first: Buffer, source: AsyncGenerator<Buffer, void>, length: number) {
    this.#first = first
    this.#source = source
    this.#left = length
  }

  async next(): Promise<IteratorResult<Buffer, void>> {
    const step = this.#first === undefined ? await this.#source.next() : { value: this.#first }
    this.#first = undefined
    this.#left -= step.value?.length ?? 0
    if (step.done !== true && this.#left >= 0) return { value: step.value }
    if (this.#left === 0) return { done: true, value: undefined }
    await this.#source.return()
    throw new Error(`a source of bytes ended ${this.#left} bytes from where it had to`)
  }

  async return(): Promise<void> {
    this.#first = undefined
    await this.#source.return()
  }
}
