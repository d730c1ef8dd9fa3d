import { read } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { BlockId } from '../../../../base/objects/index.ts'
import { poison } from '../../../../base/poison.ts'
import { BlockDamaged, type ByteRange } from '../../index.ts'
import { reading, writing } from '../disk-errors.ts'
import type { ChunkBufferPool } from './chunk-buffer-pool.ts'

/** Bytes per read. A transfer holds at most four such chunks in memory (I9). */
export const CHUNK_BYTES = 1024 * 1024

/** Bytes per read when the pool of chunk buffers is exhausted. */
export const SMALL_CHUNK_BYTES = 128 * 1024

/** Concurrent reads of one block. Prefetching the next chunk doubles the throughput of a disk. */
const READS_AHEAD = 2

/** Bytes per write. */
const WRITE_BYTES = 512 * 1024

/** The chunks of `range`, with prefetch. With a pool a chunk is valid only until the next one is requested. */
export async function* readChunks(
  id: BlockId,
  fd: number,
  range: ByteRange,
  pool?: ChunkBufferPool,
): AsyncGenerator<Buffer, void> {
  // A single chunk is not pooled: it belongs to the caller.
  const ring = pool === undefined || range.end - range.start <= CHUNK_BYTES ? undefined : new Ring(pool)
  const ahead: Promise<Buffer>[] = []
  let position = range.start
  const readOn = () => {
    while (ahead.length < READS_AHEAD && position < range.end) {
      const left = range.end - position
      const buffer = ring?.next(left) ?? Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, left))
      const next = readFully(id, fd, position, buffer)
      next.catch(() => {}) // Rejects below when awaited, unless the reader stopped early.
      ahead.push(next)
      position += buffer.length
    }
  }
  readOn()
  try {
    for (let next = ahead[0]; next !== undefined; next = ahead[0]) {
      const chunk = await next
      void ahead.shift()
      readOn()
      yield chunk
    }
  } finally {
    await Promise.allSettled(ahead)
    ring?.returnAll()
  }
}

/** Buffers used in rotation: one per read in progress, one being sent, and one for consumers that look at two chunks at a time. */
class Ring {
  readonly #pool: ChunkBufferPool
  readonly #buffers: Buffer[] = []
  #next = 0

  constructor(pool: ChunkBufferPool) {
    this.#pool = pool
  }

  next(left: number): Buffer {
    const index = this.#next++ % (READS_AHEAD + 2)
    const buffer = (this.#buffers[index] ??= this.#pool.borrow())
    poison(buffer)
    return buffer.subarray(0, left)
  }

  returnAll(): void {
    for (const buffer of this.#buffers) this.#pool.return(buffer)
  }
}

/** Reads at a position and resolves to the number of bytes. Uses callbacks and one promise: the promise API of Node takes twice the time on the event loop. */
function readAt(fd: number, buffer: Buffer, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, buffer.length, position, (error, bytesRead) =>
      error === null ? resolve(bytesRead) : reject(error),
    )
  })
}

async function readFully(id: BlockId, fd: number, position: number, buffer: Buffer): Promise<Buffer> {
  const bytesRead = await reading(id, readAt(fd, buffer, position))
  if (bytesRead < buffer.length) throw new BlockDamaged(id, `it ends after ${position + bytesRead} bytes`)
  return buffer
}

/** Writes all chunks in order, in groups of half a MiB. One group is written while the next arrives. */
export async function writeChunks(
  id: BlockId,
  handle: FileHandle,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  let group: Uint8Array[] = []
  let groupBytes = 0
  let writeInProgress: Promise<void> = Promise.resolve()
  const flush = async () => {
    await writeInProgress
    writeInProgress = writing(id, writeFully(handle, group))
    writeInProgress.catch(() => {}) // The next flush awaits it.
    group = []
    groupBytes = 0
  }
  try {
    for await (const chunk of chunks) {
      group.push(chunk)
      groupBytes += chunk.length
      if (groupBytes >= WRITE_BYTES) await flush()
    }
    await flush()
  } finally {
    await writeInProgress
  }
}

/** Writes all bytes at a position. */
export async function writeAt(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await handle.write(bytes, at, bytes.length - at, position + at)).bytesWritten
  }
}

/** Writes all bytes of the chunks in order. */
export async function writeFully(handle: FileHandle, chunks: Uint8Array[]): Promise<void> {
  if (chunks.length === 0) return
  const { bytesWritten } = await handle.writev(chunks)
  const total = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  if (bytesWritten === total) return
  // A short write, as when the disk is almost full: the next write reports the error.
  let rest = Buffer.concat(chunks).subarray(bytesWritten)
  while (rest.length > 0) rest = rest.subarray((await handle.write(rest)).bytesWritten)
}
