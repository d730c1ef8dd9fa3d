import { type BlockId, idFromBytes } from '../../base/objects/index.ts'
import type { Value } from '../../platform/database/index.ts'
import type { ManifestTable, SnapshotManifest } from './manifest.ts'
import { parseOwnJson } from './own-json.ts'
import type { BackupRepository } from './repository.ts'
import { rowsFromChunk } from './row-format.ts'
import { HELD_BLOCKS } from './tables.ts'

const CHUNKS_AHEAD = 8

/** A snapshot of a backup, for reading. Everything it returns was verified against its hash. */
export class Snapshot {
  readonly manifest: SnapshotManifest
  readonly #repository: BackupRepository

  constructor(repository: BackupRepository, manifest: SnapshotManifest) {
    this.#repository = repository
    this.manifest = manifest
  }

  /** The rows of a table in pages, as arrays in the order of its columns. An unknown table has none. */
  async *rows(name: string): AsyncGenerator<Value[][], void> {
    const table = this.manifest.tables.find((one) => one.name === name)
    if (table === undefined) return
    const ids = await this.chunksOf(table)
    for (let start = 0; start < ids.length; start += CHUNKS_AHEAD) {
      const some = ids.slice(start, start + CHUNKS_AHEAD)
      const chunks = await Promise.all(some.map((id) => this.#repository.read('rows', id)))
      for (const chunk of chunks) yield rowsFromChunk(chunk)
    }
  }

  /** The rows of a table as objects. */
  async *records(name: string): AsyncGenerator<Record<string, Value>, void> {
    const columns = this.manifest.tables.find((one) => one.name === name)?.columns ?? []
    for await (const rows of this.rows(name)) {
      for (const row of rows) yield Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null]))
    }
  }

  /** The ids of the blobs that hold the rows of a table. */
  async chunksOf({ chunks }: ManifestTable): Promise<string[]> {
    return parseOwnJson<string[]>(await this.#repository.read('rows', chunks))
  }

  /** Every block of a library or of all, with its stored length. Blocks that several libraries hold come several times. */
  async *heldBlocks(libraryKey?: number): AsyncGenerator<{ id: BlockId; size: number }, void> {
    const columns = this.manifest.tables.find((one) => one.name === HELD_BLOCKS)?.columns ?? []
    const [keyAt, idAt, sizeAt] = ['library_key', 'block_id', 'size'].map((name) => columns.indexOf(name))
    for await (const rows of this.rows(HELD_BLOCKS)) {
      for (const row of rows) {
        if (libraryKey !== undefined && row[keyAt ?? -1] !== libraryKey) continue
        yield { id: idFromBytes<BlockId>(row[idAt ?? -1] as Uint8Array), size: Number(row[sizeAt ?? -1]) }
      }
    }
  }

  hasBlock(id: BlockId): boolean {
    return this.#repository.has('block', id)
  }

  /** The verified bytes of a block. Throws ObjectMissing and ObjectDamaged. */
  readBlock(id: BlockId): Promise<Buffer> {
    return this.#repository.read('block', id)
  }

  /** Where a block is stored, for sorting: each pack is then read once. */
  placeOf(id: BlockId): string {
    const place = this.#repository.index.find(id)
    return place === undefined ? '' : `${place.pack} ${String(place.offset).padStart(12, '0')}`
  }
}
