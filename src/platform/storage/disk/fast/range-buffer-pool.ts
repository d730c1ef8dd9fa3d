import { read } from 'node:fs'
import type { BlockId } from '../../../../base/objects/index.ts'
import { poison } from '../../../../base/poison.ts'
import { BlockDamaged, type BorrowedBytes, type ByteRange, MAX_RANGE_BYTES } from '../../index.ts'
import { readError } from '../disk-errors.ts'
import type { BorrowedFile } from './file-handle-cache.ts'

/** Shorter buffers are not pooled. */
const MIN_POOLED_BYTES = 32 * 1024
const MAX_POOL_BYTES = 16 * 2 ** 20

/**
 * Pool of buffers for ranges read at once, by size. Allocating costs more than reading: the kernel zeroes the pages, and V8 collects garbage
 * every few dozen megabytes.
 */
export class RangeBufferPool {
  readonly #free = new Map<number, Buffer[]>()
  #pooled = 0

  borrow(length: number): Buffer {
    if (length < MIN_POOLED_BYTES) return Buffer.allocUnsafeSlow(length)
    const size = sizeFor(length)
    const buffer = this.#free.get(size)?.pop()
    if (buffer !== undefined) this.#pooled -= size
    return (buffer ?? Buffer.allocUnsafeSlow(size)).subarray(0, length)
  }

  return(range: Buffer): void {
    poison(range)
    const size = range.buffer.byteLength
    if (size < MIN_POOLED_BYTES || this.#pooled + size > MAX_POOL_BYTES) return
    this.#pooled += size
    const free = this.#free.get(size)
    const buffer = Buffer.from(range.buffer)
    if (free === undefined) this.#free.set(size, [buffer])
    else free.push(buffer)
  }

  /** Frees the pooled buffers. */
  clear(): void {
    this.#free.clear()
    this.#pooled = 0
  }
}

/** The next power of two, or the length itself if it is larger than a range may be. */
function sizeFor(length: number): number {
  let size = MIN_POOLED_BYTES
  while (size < length && size < MAX_RANGE_BYTES) size *= 2
  return Math.max(size, length)
}

/**
 * Reads a range of a block into one buffer and returns the file. Uses callbacks and one promise: the promise API of Node takes twice the
 * time on the event loop.
 */
export function readRangeAtOnce(
  id: BlockId,
  file: BorrowedFile,
  { start, end }: ByteRange,
  buffers: RangeBufferPool,
): Promise<BorrowedBytes> {
  const bytes = buffers.borrow(end - start)
  return new Promise((resolve, reject) => {
    read(file.fd, bytes, 0, bytes.length, start, (error, bytesRead) => {
      file[Symbol.dispose]()
      if (error !== null) reject(readError(id, error))
      else if (bytesRead < bytes.length) {
        reject(new BlockDamaged(id, `it ends after ${start + bytesRead} bytes`))
      } else resolve({ bytes, release: () => buffers.return(bytes) })
    })
  })
}
