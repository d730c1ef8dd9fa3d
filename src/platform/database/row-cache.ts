import { crc32 } from 'node:zlib'
import type { Row } from './database.ts'
import { bytesOf, type RowKey } from './row-key.ts'

/**
 * Guards cached rows against callers that change them, for tests. Rows are frozen. Bytes cannot be frozen, so a checksum of them is
 * compared on each hit.
 */
const guardsRows = process.env['CARREL_TEST_FREEZE_ROWS'] === '1'

/** Freezes the rows and returns the checksum of their bytes. */
function freezeRows(rows: readonly Row[]): number {
  for (const row of rows) Object.freeze(row)
  Object.freeze(rows)
  return checksumOf(rows)
}

/** Throws if the bytes of the rows are not what they were when they were frozen. */
function verifyRows(rows: readonly Row[], checksum: number, sql: string): void {
  if (checksumOf(rows) !== checksum) throw new Error(`The bytes of a cached row were changed: ${sql}`)
}

function checksumOf(rows: readonly Row[]): number {
  let checksum = 0
  for (const row of rows) {
    for (const value of Object.values(row)) {
      if (value instanceof Uint8Array) checksum = crc32(value, checksum)
    }
  }
  return checksum
}

const MAX_BYTES = 4 * 2 ** 20
/** Larger results are not cached. */
const MAX_ENTRY_BYTES = 8 * 1024
/** Estimated size of an entry besides its values. */
const ENTRY_OVERHEAD_BYTES = 200
/** Statements with more parameters are not cached: their keys are long and rarely come again. */
export const MAX_KEY_PARAMETERS = 8

/** A statement whose rows can be cached, and the tables that decide which rows it finds. The object itself is part of the key. */
export interface CachedQuery {
  readonly sql: string
  readonly tables: readonly string[]
}

export interface RowCacheStatistics {
  readonly hits: number
  readonly misses: number
  /** Invalidations of the tables one of our own commits wrote to. */
  readonly tableInvalidations: number
  /** Invalidations of everything: a foreign commit, a new connection, a change of the schema. */
  readonly fullInvalidations: number
  readonly evictions: number
  readonly bytes: number
}

interface Entry {
  readonly rows: readonly Row[]
  readonly bytes: number
  readonly readAt: number
  /** Of the bytes in the rows, where rows are guarded. */
  readonly checksum: number
}

/**
 * Row cache, keyed by statement and parameters. It does not detect changes: its owner calls `invalidate`, and calls `get` only after it
 * has invalidated everything that was committed before the caller's read began.
 *
 * Time is logical and counted in invalidations. Rows read at a time are valid while none of their tables was invalidated later, so
 * a result that was on its way during an invalidation is never returned. Eviction is by two generations, which approximates LRU.
 */
export class RowCache {
  readonly #maxBytes: number
  readonly #guard: boolean
  #young = new Generation()
  #old = new Generation()
  readonly #tables = new Map<string, number>()
  #everything = 0
  #now = 0
  #hits = 0
  #misses = 0
  #tableInvalidations = 0
  #fullInvalidations = 0
  #evictions = 0

  /** With `guard` cached rows are frozen, and hits verify that nobody changed their bytes. */
  constructor({ maxBytes = MAX_BYTES, guard = guardsRows }: { maxBytes?: number; guard?: boolean } = {}) {
    this.#maxBytes = maxBytes
    this.#guard = guard
  }

  /** To be taken before rows are read, and handed to `put` with them. */
  get now(): number {
    return this.#now
  }

  get statistics(): RowCacheStatistics {
    return {
      hits: this.#hits,
      misses: this.#misses,
      tableInvalidations: this.#tableInvalidations,
      fullInvalidations: this.#fullInvalidations,
      evictions: this.#evictions,
      bytes: this.#young.bytes + this.#old.bytes,
    }
  }

  /** Whether there are rows that no invalidation so far concerns. Counts as neither hit nor miss. */
  has(query: CachedQuery, key: RowKey): boolean {
    const entry = this.#young.get(query, key) ?? this.#old.get(query, key)
    return entry !== undefined && this.#isValid(query, entry)
  }

  /** The rows are shared: nobody may change one, or the list. Undefined for a miss. */
  get(query: CachedQuery, key: RowKey): readonly Row[] | undefined {
    const young = this.#young.get(query, key)
    const entry = young ?? this.#old.get(query, key)
    if (entry === undefined || !this.#isValid(query, entry)) {
      this.#misses += 1
      return undefined
    }
    this.#hits += 1
    if (this.#guard) verifyRows(entry.rows, entry.checksum, query.sql)
    if (young === undefined) this.#promote(query, key, entry)
    return entry.rows
  }

  /** Caches rows that were read at `readAt` or later, unless they are large or no longer valid. */
  put(query: CachedQuery, key: RowKey, rows: readonly Row[], readAt: number): void {
    const bytes = bytesOf(rows, MAX_ENTRY_BYTES) + ENTRY_OVERHEAD_BYTES
    if (bytes > MAX_ENTRY_BYTES) return
    const checksum = this.#guard ? freezeRows(rows) : 0
    const entry: Entry = { rows, bytes, readAt, checksum }
    if (this.#isValid(query, entry)) this.#insert(query, key, entry)
  }

  /** Invalidates what was read from some tables. */
  invalidate(tables: Iterable<string>): void {
    this.#now += 1
    this.#tableInvalidations += 1
    for (const table of tables) this.#tables.set(table, this.#now)
  }

  invalidateAll(): void {
    this.#everything = ++this.#now
    this.#fullInvalidations += 1
    this.#tables.clear()
    this.#young = new Generation()
    this.#old = new Generation()
  }

  #isValid({ tables }: CachedQuery, { readAt }: Entry): boolean {
    if (this.#everything > readAt) return false
    for (const table of tables) if ((this.#tables.get(table) ?? 0) > readAt) return false
    return true
  }

  #promote(query: CachedQuery, key: RowKey, entry: Entry): void {
    this.#old.delete(query, key)
    this.#insert(query, key, entry)
  }

  #insert(query: CachedQuery, key: RowKey, entry: Entry): void {
    this.#old.delete(query, key)
    this.#young.set(query, key, entry)
    if (this.#young.bytes < this.#maxBytes / 2) return
    this.#evictions += this.#old.size
    this.#old = this.#young
    this.#young = new Generation()
  }
}

class Generation {
  readonly #entries = new Map<CachedQuery, Map<RowKey, Entry>>()
  bytes = 0
  size = 0

  get(query: CachedQuery, key: RowKey): Entry | undefined {
    return this.#entries.get(query)?.get(key)
  }

  set(query: CachedQuery, key: RowKey, entry: Entry): void {
    this.delete(query, key)
    const entries = this.#entries.get(query)
    if (entries === undefined) this.#entries.set(query, new Map([[key, entry]]))
    else entries.set(key, entry)
    this.bytes += entry.bytes
    this.size += 1
  }

  delete(query: CachedQuery, key: RowKey): void {
    const entries = this.#entries.get(query)
    const entry = entries?.get(key)
    if (entries === undefined || entry === undefined) return
    entries.delete(key)
    this.bytes -= entry.bytes
    this.size -= 1
  }
}
