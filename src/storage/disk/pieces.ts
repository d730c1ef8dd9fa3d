import { read } from 'node:fs'
import type { BlockId } from '../../objects/index.ts'
import { poison } from '../../poison.ts'
import { BlockDamaged, type ByteRange, type LentBytes, LONGEST_AT_ONCE } from '../index.ts'
import { readError } from './disk-errors.ts'
import type { UsedFile } from './open-files.ts'

/** Shorter pieces are not worth keeping memory for. */
const SHORTEST_KEPT = 32 * 1024
const MOST_KEPT_BYTES = 16 * 2 ** 20

/**
 * Memory for pieces of blocks, used again. To get new memory for each costs more than to read into it: the system has
 * to empty its pages, and V8 to look for what nobody uses any more every few dozen megabytes.
 */
export class PieceBuffers {
  readonly #free = new Map<number, Buffer[]>()
  #kept = 0

  take(length: number): Buffer {
    if (length < SHORTEST_KEPT) return Buffer.allocUnsafeSlow(length)
    const size = sizeFor(length)
    const buffer = this.#free.get(size)?.pop()
    if (buffer !== undefined) this.#kept -= size
    return (buffer ?? Buffer.allocUnsafeSlow(size)).subarray(0, length)
  }

  /** Nobody uses a piece any more. */
  give(piece: Buffer): void {
    poison(piece)
    const size = piece.buffer.byteLength
    if (size < SHORTEST_KEPT || this.#kept + size > MOST_KEPT_BYTES) return
    this.#kept += size
    const free = this.#free.get(size)
    const buffer = Buffer.from(piece.buffer)
    if (free === undefined) this.#free.set(size, [buffer])
    else free.push(buffer)
  }
}

/** The next power of two. */
function sizeFor(length: number): number {
  let size = SHORTEST_KEPT
  while (size < length && size < LONGEST_AT_ONCE) size *= 2
  return Math.max(size, length)
}

/**
 * Reads a range of a block's file in one piece, and is done with the file then. By callback and with one promise: those
 * of a handle take the event loop twice as long.
 */
export function readPiece(
  id: BlockId,
  file: UsedFile,
  { start, end }: ByteRange,
  buffers: PieceBuffers,
): Promise<LentBytes> {
  const bytes = buffers.take(end - start)
  return new Promise((resolve, reject) => {
    read(file.fd, bytes, 0, bytes.length, start, (error, bytesRead) => {
      file[Symbol.dispose]()
      if (error !== null) reject(readError(id, error))
      else if (bytesRead < bytes.length) {
        reject(new BlockDamaged(id, `it ends after ${start + bytesRead} bytes`))
      } else resolve({ bytes, giveBack: () => buffers.give(bytes) })
    })
  })
}
