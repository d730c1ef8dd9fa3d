import type { LibraryInfo } from '../commits/index.ts'
import type { BlockCheck } from '../content/index.ts'
import type { Database, Value } from '../database/index.ts'
import type { EditableLibrary, LibraryCore } from '../library/index.ts'
import type { BlockId } from '../objects/index.ts'
import type { BlockStore } from '../storage/index.ts'

/** A backup that lost data may be restored from. */
export interface RepairSource {
  readonly name: string
  hasBlock(id: BlockId): boolean
  /** Verified. Throws if it cannot be read. */
  readBlock(id: BlockId): Promise<Buffer>
  records(table: string): AsyncIterable<Record<string, Value>>
}

/** What a repair works with. */
export interface RepairParts {
  readonly db: Database
  readonly core: LibraryCore
  readonly blocks: BlockStore
  readonly blockCheck: BlockCheck
  readonly sources: readonly RepairSource[]
  /** Keeps a copy of damaged bytes. */
  readonly quarantine: (name: string, bytes: Uint8Array) => Promise<void>
  /** Keeps a copy of the damaged file of a block, if there is one. */
  readonly quarantineFile: (id: BlockId) => Promise<void>
  readonly openAsOwner: (library: LibraryInfo) => Promise<EditableLibrary | undefined>
  readonly rebuildSearch: (library: LibraryInfo) => Promise<void>
  readonly isDryRun: boolean
}

/** Something that was repaired. */
export interface RepairStep {
  readonly action:
    | 'block-restored'
    | 'object-restored'
    | 'revision-recovered'
    | 'sums-corrected'
    | 'index-rebuilt'
  readonly library: string
  readonly libraryName: string
  readonly path: string | null
  readonly object: string | null
  readonly block: string | null
  /** Where it came from, or what was done. */
  readonly detail: string
}
