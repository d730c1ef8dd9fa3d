import { read } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { BlockId } from '../../objects/index.ts'
import { poison } from '../../poison.ts'
import { BlockDamaged, type ByteRange } from '../index.ts'
import type { ChunkBuffers } from './chunk-buffers.ts'
import { reading, writing } from './disk-errors.ts'

/** Bytes per read. A transfer keeps four such chunks of a block in memory at most (I9). */
export const CHUNK_BYTES = 1024 * 1024

/** Bytes per read when there are very many readers. */
export const SMALL_CHUNK_BYTES = 128 * 1024

/** Reads under way at a time: a disk gives twice as much to who asks for the next chunk before the last one is there. */
const READS_AHEAD = 2

/** Bytes per write. */
const GROUP_BYTES = 512 * 1024

/** Where chunks are read from. Gives the number of bytes, fewer than fit only at the end. */
export type ReadAt = (buffer: Buffer, position: number) => Promise<number>

/** Reads an open file. By callback and with one promise: those of a handle take the event loop twice as long. */
export function readerOf(fd: number): ReadAt {
  return (buffer, position) =>
    new Promise((resolve, reject) => {
      read(fd, buffer, 0, buffer.length, position, (error, bytesRead) =>
        error === null ? resolve(bytesRead) : reject(error),
      )
    })
}

/**
 * The bytes of `range`, a few chunks ahead of what was asked for. With `lent` buffers a chunk may be used until the next
 * is asked for. `onWaited` is told how long each took to come once it was asked for.
 */
export async function* readChunks(
  id: BlockId,
  readAt: ReadAt,
  range: ByteRange,
  lent?: ChunkBuffers,
  onWaited?: (ms: number) => void,
): AsyncGenerator<Buffer, void> {
  // A single chunk is given away for good.
  const ring = lent === undefined || range.end - range.start <= CHUNK_BYTES ? undefined : new Ring(lent)
  const ahead: Promise<Buffer>[] = []
  let position = range.start
  const readOn = () => {
    while (ahead.length < READS_AHEAD && position < range.end) {
      const left = range.end - position
      const buffer = ring?.next(left) ?? Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, left))
      const next = readFully(id, readAt, position, buffer)
      next.catch(() => {}) // Whoever awaits it hears of it; an early end awaits it no more.
      ahead.push(next)
      position += buffer.length
    }
  }
  readOn()
  try {
    for (let next = ahead[0]; next !== undefined; next = ahead[0]) {
      const askedAt = performance.now()
      const chunk = await next
      onWaited?.(performance.now() - askedAt)
      void ahead.shift()
      readOn()
      yield chunk
    }
  } finally {
    await Promise.allSettled(ahead)
    ring?.giveBack()
  }
}

/** Buffers in turn: those being read into, one on its way out, and one more for who looks at two at a time. */
class Ring {
  readonly #lent: ChunkBuffers
  readonly #buffers: Buffer[] = []
  #turn = 0

  constructor(lent: ChunkBuffers) {
    this.#lent = lent
  }

  next(left: number): Buffer {
    const turn = this.#turn++ % (READS_AHEAD + 2)
    const buffer = (this.#buffers[turn] ??= this.#lent.take())
    poison(buffer)
    return buffer.subarray(0, left)
  }

  giveBack(): void {
    for (const buffer of this.#buffers) this.#lent.give(buffer)
  }
}

async function readFully(id: BlockId, readAt: ReadAt, position: number, buffer: Buffer): Promise<Buffer> {
  const bytesRead = await reading(id, readAt(buffer, position))
  if (bytesRead < buffer.length) throw new BlockDamaged(id, `it ends after ${position + bytesRead} bytes`)
  return buffer
}

/** Writes all chunks in order, in groups; one group is written while the next comes in. */
export async function writeChunks(
  id: BlockId,
  handle: FileHandle,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  let group: Uint8Array[] = []
  let groupBytes = 0
  let underWay: Promise<void> = Promise.resolve()
  const flush = async () => {
    await underWay
    underWay = writing(id, writeFully(handle, group))
    underWay.catch(() => {}) // The next flush awaits it.
    group = []
    groupBytes = 0
  }
  try {
    for await (const chunk of chunks) {
      group.push(chunk)
      groupBytes += chunk.length
      if (groupBytes >= GROUP_BYTES) await flush()
    }
    await flush()
  } finally {
    await underWay
  }
}

/** Writes chunks one after the other, all of them. */
export async function writeFully(handle: FileHandle, chunks: Uint8Array[]): Promise<void> {
  if (chunks.length === 0) return
  const { bytesWritten } = await handle.writev(chunks)
  const total = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  if (bytesWritten === total) return
  // Rare: a disk about to be full takes a part, and the next write says so.
  let rest = Buffer.concat(chunks).subarray(bytesWritten)
  while (rest.length > 0) rest = rest.subarray((await handle.write(rest)).bytesWritten)
}
