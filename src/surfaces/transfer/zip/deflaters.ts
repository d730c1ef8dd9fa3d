import { constants, createDeflateRaw, type DeflateRaw } from 'node:zlib'
import { Semaphore } from '../../../base/scheduling/index.ts'

// The fastest level. Level 6 takes twice the time for 6 to 10 % less, and Huffman coding alone makes archives up to twice as
// large in about the same time (bench/history.md).
export const DEFLATE = { level: constants.Z_BEST_SPEED } as const

/** Most bytes deflated in one call. */
export const MAX_DEFLATED = 1024 * 1024

// Large enough for several files per buffer, small enough that a buffer kept alive
// by one file wastes little.
const OUTPUT_BYTES = 256 * 1024

/**
 * Deflates bytes in the thread pool. Deflaters are pooled: each allocates about 1/3 MiB of
 * external memory, and a few dozen new ones trigger a full garbage collection.
 */
export class Deflaters implements Disposable {
  readonly #semaphore: Semaphore
  readonly #free: DeflateRaw[] = []
  #isClosed = false

  constructor(atOnce: number) {
    this.#semaphore = new Semaphore(atOnce)
  }

  /** At most MAX_DEFLATED bytes, which must not change until this settles. */
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

/** Each write is a complete stream; reset afterwards. */
function createDeflater(): DeflateRaw {
  const options = {
    ...DEFLATE,
    flush: constants.Z_FINISH,
    chunkSize: OUTPUT_BYTES,
    // Otherwise it would wait for a reader before it ends.
    readableHighWaterMark: 2 * MAX_DEFLATED,
  }
  return createDeflateRaw(options).on('error', () => {}) // Reported to the writer.
}

function finish(deflater: DeflateRaw, bytes: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    deflater.write(bytes, (error) => {
      if (error) reject(error)
      else resolve(deflater.read() as Buffer)
    })
  })
}
