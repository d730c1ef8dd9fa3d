import type { Chunks } from './response.ts'

/** Reads the first chunk; gives it alone if it is all, else everything as chunks that remember it. */
export async function begin(source: AsyncGenerator<Buffer, void>, length: number): Promise<Buffer | Chunks> {
  const first = await source.next()
  if (first.done === true) throw new Error('a source of bytes ended before it began')
  if (first.value.length < length) return new BegunChunks(first.value, source, length)
  await source.return()
  return first.value
}

/** The rest of a source whose first chunk is already in hand. Throws rather than give too little or too much. */
class BegunChunks implements Chunks {
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
