/** Files up to this size go in one request, together with others of one folder. */
export const SMALL = 1_000_000
/** Files beyond this size go in chunks, so that a lost connection costs no more than one of them. */
export const BIG = 8_000_000

const SHORTEST = 8_000_000
const LONGEST = 64_000_000
/** A chunk is to take about this long: short enough to lose, long enough not to wait for answers all the time. */
const SECONDS_A_CHUNK = 4

/** Bytes `start` up to but not including `end` of a file. */
interface Chunk {
  readonly start: number
  readonly end: number
}

/** The chunk to send next when the server has the first `stored` bytes; undefined when it has all of them. */
export function nextChunk(stored: number, size: number, bytesPerSecond: number): Chunk | undefined {
  if (stored >= size) return undefined
  const end = Math.min(size, stored + chunkLength(bytesPerSecond))
  // A last chunk of a few bytes is sent along with the one before.
  return { start: stored, end: size - end < SHORTEST / 4 ? size : end }
}

export function chunkLength(bytesPerSecond: number): number {
  return Math.round(Math.min(LONGEST, Math.max(SHORTEST, bytesPerSecond * SECONDS_A_CHUNK)))
}

export function contentRange({ start, end }: Chunk, size: number): string {
  return `bytes ${start}-${end - 1}/${size}`
}

/** Where to go on, as the server says; what it claims beyond the file is of some other one. */
export function resumeAt(stored: number, size: number): number {
  return stored > 0 && stored < size ? stored : 0
}
