// The content-defined chunking of the sync clients. Server and clients must cut a file at the same offsets. Otherwise equal
// content would have two file ids, and clients would create conflict files.

import { SEARCH_GROUP, SEARCHED_AT_ONCE, StopSearch } from './stop-search.ts'

/** Block sizes in bytes. The average must be a power of two. */
interface ChunkSizes {
  readonly min: number
  readonly average: number
  readonly max: number
}

const MIB = 2 ** 20

/** The sizes that sync clients use. */
const clientSizes: ChunkSizes = { min: 6 * MIB, average: 8 * MIB, max: 10 * MIB }

/** No block of a file is longer. */
export const LONGEST_BLOCK = clientSizes.max

/** How boundaries are searched: byte by byte, or 16 bytes at a time with WebAssembly. Both find the same ones. */
export type BoundarySearch = 'plain' | 'fast'

const WINDOW = 48
const STOP = 0x13
/** By byte: its contribution to the fingerprint, removed when it leaves the window. */
export const leaving = makeTable()

function makeTable(): Int32Array {
  const bits = [
    0xefacbb19, 0xdf597632, 0xbeb2ec64, 0x7d65d8c8, 0x45fc3c13, 0x8bf87826, 0x17f0f04c, 0x90d66d1b,
  ]
  return Int32Array.from({ length: 256 }, (_, byte) =>
    bits.reduce((sum, value, bit) => ((byte >> bit) & 1 ? sum ^ value : sum), 0),
  )
}

// Its module has the table and the stop as constants.
let sharedSearch: StopSearch | undefined

function search(): StopSearch {
  sharedSearch ??= new StopSearch()
  return sharedSearch
}

/** Finds the ends of chunks in a stream with a rolling fingerprint. Buffers the window of 48 bytes, not the chunk. */
export class Cutter {
  readonly #sizes: ChunkSizes
  readonly #mask: number
  readonly #search: StopSearch | undefined
  /** The last bytes of the current chunk, in order. */
  readonly #window = new Uint8Array(WINDOW)
  #length = 0
  #fingerprint = 0

  constructor(sizes: ChunkSizes = clientSizes, boundarySearch: BoundarySearch = 'fast') {
    const { min, average, max } = sizes
    const powerOfTwo = average > 0 && average <= 2 ** 30 && (average & (average - 1)) === 0
    if (min < WINDOW || max < min || !powerOfTwo) throw new RangeError('These chunk sizes cannot be used.')
    this.#sizes = sizes
    this.#mask = average - 1
    // The vectorized search compares two bytes, so it needs a mask of at least 16 bits.
    if (boundarySearch === 'fast' && average >= 2 ** 16) this.#search = search()
  }

  /** The length of the shortest chunk, unless the data ends earlier, and of the longest one. */
  get sizes(): Pick<ChunkSizes, 'min' | 'max'> {
    return this.#sizes
  }

  /** Bytes of the current chunk so far. At the end of the data they are the last chunk. */
  get pending(): number {
    return this.#length
  }

  /**
   * Continues at `bytes[from]`. If the current chunk ends within the bytes, returns the offset after its end, where the caller
   * continues. Otherwise consumes all bytes and returns undefined.
   */
  next(bytes: Uint8Array, from = 0): number | undefined {
    let at = from
    const { min, max } = this.#sizes
    if (this.#length < min) {
      at = Math.min(bytes.length, from + min - this.#length)
      this.#take(bytes, from, at)
      if (this.#length < min) return undefined
      const [a = 0, b = 0, c = 0, d = 0] = this.#window.subarray(WINDOW - 4)
      this.#fingerprint = (a << 24) | (b << 16) | (c << 8) | d
      if (this.#length >= max || this.#stops(this.#fingerprint)) return this.#cut(at)
    }
    const end = Math.min(bytes.length, at + max - this.#length)
    const found = this.#scan(bytes, at, end)
    if (found !== undefined) return this.#cut(found)
    this.#take(bytes, at, end)
    return this.#length >= max ? this.#cut(end) : undefined
  }

  /** The offset after the byte that completes a stop. If there is none, undefined, with the fingerprint updated to `end`. */
  #scan(bytes: Uint8Array, from: number, end: number): number | undefined {
    const table = leaving
    let fingerprint = this.#fingerprint
    const near = Math.min(end, from + WINDOW)
    for (let at = from; at < near; ) {
      const left = this.#window[at - from] as number
      fingerprint = ((fingerprint << 8) | (bytes[at++] as number)) ^ (table[left] as number)
      if (this.#stops(fingerprint)) return at
    }
    this.#fingerprint = fingerprint
    const at = this.#search === undefined ? near : this.#scanGroups(this.#search, bytes, near, end)
    return at < 0 ? -at : this.#scanBytes(bytes, at, end)
  }

  /** Scans in groups. Returns the offset it reached, or the offset after a stop as a negative number. */
  #scanGroups(search: StopSearch, bytes: Uint8Array, from: number, end: number): number {
    // The search also reads the byte before the window.
    let at = from + 1
    if (end - at < SEARCH_GROUP) return from
    if (this.#stops(fingerprintAt(bytes, from))) return -at
    while (end - at >= SEARCH_GROUP) {
      const until = Math.min(end, at + SEARCHED_AT_ONCE)
      let group = search.next(bytes, at, until)
      for (; until - group >= SEARCH_GROUP; group = search.again(group, at, until)) {
        for (const last = group + SEARCH_GROUP; group < last; group++) {
          if (this.#stops(fingerprintAt(bytes, group))) return -(group + 1)
        }
      }
      at = group
    }
    this.#fingerprint = fingerprintAt(bytes, at - 1)
    return at
  }

  #scanBytes(bytes: Uint8Array, from: number, end: number): number | undefined {
    const table = leaving
    let fingerprint = this.#fingerprint
    for (let at = from; at < end; ) {
      const left = bytes[at - WINDOW] as number
      fingerprint = ((fingerprint << 8) | (bytes[at++] as number)) ^ (table[left] as number)
      if (this.#stops(fingerprint)) return at
    }
    this.#fingerprint = fingerprint
    return undefined
  }

  #stops(fingerprint: number): boolean {
    return (fingerprint & this.#mask) === (STOP & this.#mask)
  }

  #take(bytes: Uint8Array, from: number, to: number): void {
    const count = to - from
    this.#length += count
    if (count < WINDOW) this.#window.copyWithin(0, count)
    const copied = Math.min(count, WINDOW)
    this.#window.set(bytes.subarray(to - copied, to), WINDOW - copied)
  }

  #cut(at: number): number {
    this.#length = 0
    return at
  }
}

/** The fingerprint after the byte at `at`, which depends on the last four steps only. */
function fingerprintAt(bytes: Uint8Array, at: number): number {
  let fingerprint = 0
  for (let from = at - 3; from <= at; from++) {
    const left = bytes[from - WINDOW] as number
    fingerprint = ((fingerprint << 8) | (bytes[from] as number)) ^ (leaving[left] as number)
  }
  return fingerprint
}

/** The length of the chunk that starts at `offset`, if the data ends with `bytes`. */
export function cut(bytes: Uint8Array, offset = 0, sizes: ChunkSizes = clientSizes): number {
  return (new Cutter(sizes).next(bytes, offset) ?? bytes.length) - offset
}

/**
 * The chunks of a stream, each as the pieces it arrived in. At most one chunk is buffered.
 * An empty stream has no chunks.
 */
export async function* chunksOf(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
  sizes: ChunkSizes = clientSizes,
  boundarySearch: BoundarySearch = 'fast',
): AsyncGenerator<Buffer[]> {
  const cutter = new Cutter(sizes, boundarySearch)
  let pieces: Buffer[] = []
  for await (const bytes of source) {
    let from = 0
    while (from < bytes.length) {
      const end = cutter.next(bytes, from)
      pieces.push(bytes.subarray(from, end))
      from = end ?? bytes.length
      if (end === undefined) continue
      yield pieces
      pieces = []
    }
  }
  if (pieces.length > 0) yield pieces
}
