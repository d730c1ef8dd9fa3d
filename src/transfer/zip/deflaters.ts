import { constants, createDeflateRaw, type DeflateRaw } from 'node:zlib'
import { Semaphore } from '../../scheduling/index.ts'

// The fastest level. Level 6 takes twice the time for 6 to 10 % less, and Huffman coding alone makes archives up to twice as
// large in about the same time (bench/history.md).
export const DEFLATE = { level: constants.Z_BEST_SPEED } as const

/** Most bytes deflated in one call. */
export const LONGEST_DEFLATED = 1024 * 1024

// Room for several files, so that few of them end in one piece of memory and go on in another; but pieces that are kept
// for as long as a file in them is are not to pile up.
const OUTPUT_BYTES = 256 * 1024

/**
 * Deflates bytes in the thread pool, a few pieces at a time. What that needs is used again: V8 counts the third of a
 * MiB each new deflater takes, and looks through all of its heap every few dozen of them.
 */
export class Deflaters implements Disposable {
  readonly #semaphore: Semaphore
  readonly #free: DeflateRaw[] = []
  #isClosed = false

  constructor(atOnce: number) {
    this.#semaphore = new Semaphore(atOnce)
  }

  /** The bytes must not change until this settles; they are LONGEST_DEFLATED at most. */
  deflate(bytes: Uint8Array): Promise<Buffer> {
    return this.#semaphore.run(async () => {
      const deflater = this.#free.pop() ?? createDeflater()
      const packed = await finish(deflater, bytes)
      deflater.reset()
      if (this.#isClosed) deflater.destroy()
      else this.#free.push(deflater)
      return packed
    })
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    for (const deflater of this.#free.splice(0)) deflater.destroy()
  }
}

/** Each write to it is a whole, after which it is to be reset. */
function createDeflater(): DeflateRaw {
  const options = {
    ...DEFLATE,
    flush: constants.Z_FINISH,
    chunkSize: OUTPUT_BYTES,
    // It would otherwise wait to be read before it ends.
    readableHighWaterMark: 2 * LONGEST_DEFLATED,
  }
  return createDeflateRaw(options).on('error', () => {}) // Whoever wrote hears of it.
}

function finish(deflater: DeflateRaw, bytes: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    deflater.write(bytes, (error) => {
      if (error) reject(error)
      else resolve(deflater.read() as Buffer)
    })
  })
}
