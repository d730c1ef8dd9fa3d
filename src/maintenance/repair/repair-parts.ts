import type { BlockId, FsId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { BlockCheck } from '../../libraries/content/index.ts'
import type { EditableLibrary, LibraryCore } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import type { Database, Transaction, Value } from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import type { BackupRows } from './backup-rows.ts'

/** A backup that lost data may be restored from. */
export interface RepairSource {
  readonly name: string
  hasBlock(id: BlockId): boolean
  /** Verified. Throws if it cannot be read. */
  readBlock(id: BlockId): Promise<Buffer>
  records(table: string): AsyncIterable<Record<string, Value>>
}

/** An entry of a folder, as the search index has it. */
export interface IndexedName {
  readonly name: string
  readonly path: LibraryPath
  readonly isDir: boolean
  readonly objectId: FsId
  readonly size: number
  /** Unix seconds. */
  readonly mtime: number
}

/** What a repair works with. */
export interface RepairParts {
  readonly db: Database
  readonly core: LibraryCore
  readonly blocks: BlockStore
  readonly blockCheck: BlockCheck
  readonly sources: readonly RepairSource[]
  /** An earlier version of the object of a block, if the block store keeps such. Verified. */
  readonly findVersion: (id: BlockId) => Promise<{ bytes: Buffer; storedAt: Date } | undefined>
  /** Keeps a copy of damaged bytes. */
  readonly quarantine: (name: string, bytes: Uint8Array) => Promise<void>
  /** Keeps a copy of the damaged file of a block, if there is one. */
  readonly quarantineFile: (id: BlockId) => Promise<void>
  readonly openAsOwner: (library: LibraryInfo) => Promise<EditableLibrary | undefined>
  /** Whether the owner of a library has one with this name. */
  readonly ownerHasLibrary: (library: LibraryInfo, name: string) => Promise<boolean>
  /** Creates an empty library with the same owner. Undefined if the library or its owner is deleted. */
  readonly createForOwner: (library: LibraryInfo, name: string) => Promise<EditableLibrary | undefined>
  /** The entries of a folder in the search index; undefined if it is not indexed. */
  readonly indexedEntries: (
    library: LibraryInfo,
    folder: LibraryPath,
  ) => Promise<readonly IndexedName[] | undefined>
  readonly rebuildSearch: (library: LibraryInfo) => Promise<void>
  readonly rebuildPhotos: (library: LibraryInfo) => Promise<void>
  /** Derives what comments and tags are found by again. */
  readonly repairAnnotations: (tx: Transaction, libraryKey: number) => Promise<void>
  /** Deletes an unfinished upload, so that its client starts over. */
  readonly dropUpload: (uploadKey: number) => Promise<void>
  /** Deletes an archive, so that it is packed again when it is requested. */
  readonly dropArchive: (archiveKey: number) => Promise<void>
  readonly isDryRun: boolean
}

/** A repair in progress, with what the backups have of the lost rows. */
export interface OpenRepair extends RepairParts {
  readonly backupRows: BackupRows
}

/** Something that was repaired. */
export interface RepairStep {
  readonly action:
    | 'block-restored'
    | 'object-restored'
    | 'commit-restored'
    | 'revision-recovered'
    | 'folder-recovered'
    | 'upload-dropped'
    | 'archive-dropped'
    | 'sums-corrected'
    | 'index-rebuilt'
    | 'binding-corrected'
  readonly library: string
  readonly libraryName: string
  readonly path: string | null
  readonly object: string | null
  readonly block: string | null
  /** Where it came from, or what was done. */
  readonly detail: string
}
