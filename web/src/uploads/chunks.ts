import type { Chunk } from './network.ts'

/** Files up to this size are batched with others of the same folder. */
export const SMALL = 1_000_000
/** Larger files are sent in chunks, so that a lost connection costs at most one chunk. */
export const BIG = 8_000_000

const SHORTEST = 8_000_000
const LONGEST = 64_000_000
/** Target duration of a chunk: short enough to lose, long enough to amortize the round trip. */
const SECONDS_PER_CHUNK = 4

/** The next chunk when the server has `stored` bytes; undefined when it has all. */
export function nextChunk(stored: number, size: number, bytesPerSecond: number): Chunk | undefined {
  if (stored >= size) return undefined
  const end = Math.min(size, stored + chunkLength(bytesPerSecond))
  // A tiny last chunk is merged into the one before.
  return { start: stored, end: size - end < SHORTEST / 4 ? size : end }
}

export function chunkLength(bytesPerSecond: number): number {
  return Math.round(Math.min(LONGEST, Math.max(SHORTEST, bytesPerSecond * SECONDS_PER_CHUNK)))
}

export function contentRange({ start, end }: Chunk, size: number): string {
  return `bytes ${start}-${end - 1}/${size}`
}

/** The offset to resume at. An offset beyond the file belongs to another upload, so start over. */
export function resumeAt(stored: number, size: number): number {
  return stored > 0 && stored < size ? stored : 0
}
