import { type BlockId, type CommitId, idFromBytes, type LibraryId } from '../../base/objects/index.ts'
import { blockRows, SMALLEST_STORED_BLOCK } from '../../libraries/content/index.ts'
import { restoredLibraries } from '../../libraries/registry/index.ts'
import {
  type Database,
  knownSchemaVersion,
  type Transaction,
  type Value,
} from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import { findGapsOf, nameOfGap } from './gaps.ts'
import { ScratchBlocks } from './scratch-store.ts'
import type { Snapshot } from './snapshot.ts'
import { ACCOUNTS, HELD_BLOCKS, LIBRARIES } from './tables.ts'
import { BackupError } from './target.ts'

/** A library in a snapshot. */
interface SnapshotLibrary {
  readonly id: LibraryId
  readonly name: string
  readonly owner: string
  readonly isEncrypted: boolean
  readonly row: Readonly<Record<string, Value>>
}

/** A restored library. */
interface RestoredLibrary {
  readonly id: LibraryId
  readonly name: string
  readonly blocks: number
  /** What its trees reach and the backup does not have, in words. */
  readonly missing: readonly string[]
}

interface RestoreLibraryOptions {
  readonly db: Database
  readonly blocks: BlockStore
  readonly library: SnapshotLibrary
  /** The id and the name it gets. */
  readonly id: LibraryId
  readonly name: string
  readonly ownerKey: number
  /** Unix seconds. */
  readonly now: number
  /** Called with the keys of the library in the backup and here, before it is shown. */
  readonly onCopied: (fromKey: number, key: number) => Promise<void>
  /** Called in the transaction that shows the library. */
  readonly onPublish: (tx: Transaction, key: number, head: CommitId) => Promise<void>
}

/** The rows that make up a library, besides comments and tags. Everything else about it is derived, or belongs to people: shares, links, stars. */
const LIBRARY_TABLES = [
  'commit_object',
  'fs_object',
  'condemned_object',
  HELD_BLOCKS,
  'library_rename',
  'collected_library',
]
const ROWS_PER_TRANSACTION = 500
const SMALL_BLOCKS_PER_STEP = 100

/** The libraries of a snapshot that are not deleted, with the addresses of their owners. */
export async function listSnapshotLibraries(snapshot: Snapshot): Promise<SnapshotLibrary[]> {
  const owners = new Map<Value, string>()
  for await (const { key, email } of snapshot.records(ACCOUNTS)) owners.set(key ?? null, String(email))
  const libraries: SnapshotLibrary[] = []
  for await (const row of snapshot.records(LIBRARIES)) {
    if (row['deleted_at'] !== null) continue
    libraries.push({
      id: String(row['id']) as LibraryId,
      name: String(row['name']),
      owner: owners.get(row['owner_key'] ?? null) ?? '',
      isEncrypted: row['enc_version'] !== 0,
      row,
    })
  }
  return libraries
}

/** Adds an account of a snapshot, with its password, unless one with the address exists. */
export async function restoreAccount(snapshot: Snapshot, db: Database, email: string): Promise<void> {
  refuseOtherSchema(snapshot)
  for await (const { key: _key, ...row } of snapshot.records(ACCOUNTS)) {
    if (row['email'] !== email) continue
    const account = { ...row, default_library_key: null }
    await db.write((tx) =>
      tx.insert(ACCOUNTS, Object.keys(account), [Object.values(account)], { ignoreExisting: true }),
    )
    return
  }
  throw new BackupError(`The snapshot ${snapshot.manifest.id} has no account ${email}.`)
}

/** Frees the id of a library whose restore was interrupted, so that the restore can be repeated. */
export async function abandonInterrupted(
  snapshot: Snapshot,
  db: Database,
  { id, row }: SnapshotLibrary,
): Promise<void> {
  refuseOtherSchema(snapshot)
  await db.write((tx) => restoredLibraries.abandon(tx, { id, head: row['head'] as Uint8Array }))
}

/**
 * Restores one library with its history into a server, which may be running. Blocks come first, then the row of the library, hidden, then its
 * objects, and the head last (I1). Stopped before, it leaves a deleted library, which `abandonInterrupted` gives up when the restore is repeated, and
 * which is otherwise purged like any other.
 */
export async function restoreLibrary(
  snapshot: Snapshot,
  options: RestoreLibraryOptions,
): Promise<RestoredLibrary> {
  refuseOtherSchema(snapshot)
  const { db, library, id, name, ownerKey, now, onCopied, onPublish } = options
  const { key: oldKey, ...row } = library.row
  const { restored, missing } = await restoreBlocksOf(snapshot, Number(oldKey), options)
  const values = { ...row, id, name: `${name} (restore unfinished)`, owner_key: ownerKey }
  const key = await db.write((tx) => restoredLibraries.insert(tx, values, now))
  if (key === undefined) throw new BackupError(`There is already a library with the id ${id}.`)
  for (const table of LIBRARY_TABLES) await copyRows(snapshot, db, table, Number(oldKey), key)
  await onCopied(Number(oldKey), key)
  const head = idFromBytes<CommitId>(row['head'] as Uint8Array)
  const isPublished = await db.write(async (tx) => {
    const published = await restoredLibraries.publish(tx, key, {
      name,
      head: row['head'] as Uint8Array,
      headSeq: Number(row['head_seq']),
      root: row['root'] as Uint8Array,
      size: Number(row['size']),
      fileCount: Number(row['file_count']),
    })
    if (published) await onPublish(tx, key, head)
    return published
  })
  if (!isPublished) {
    throw new BackupError(
      `The library ${name} was purged, or restored by another command, while it was being restored.`,
    )
  }
  // Before, it has no head to begin with.
  for (const gap of await findGapsOf(db, key, (one) => snapshot.hasBlock(one))) missing.add(nameOfGap(gap))
  return { id, name, blocks: restored, missing: [...missing].sort() }
}

/** Rows of another schema fit only into a whole server, which is then migrated. */
function refuseOtherSchema({ manifest }: Snapshot): void {
  if (manifest.schemaVersion === knownSchemaVersion) return
  throw new BackupError(
    `The snapshot ${manifest.id} was made by version ${manifest.version} of Carrel: restore the whole server into an empty folder, which brings it up to date, back that up, and restore from there.`,
  )
}

async function restoreBlocksOf(
  snapshot: Snapshot,
  libraryKey: number,
  { db, blocks }: { db: Database; blocks: BlockStore },
): Promise<{ restored: number; missing: Set<string> }> {
  using small = new ScratchBlocks()
  using files = new ScratchBlocks()
  const missing = new Set<string>()
  const collected = new Set(snapshot.manifest.collected)
  for await (const { id, size } of snapshot.heldBlocks(libraryKey)) {
    if (snapshot.hasBlock(id)) (size < SMALLEST_STORED_BLOCK ? small : files).add(id, snapshot.placeOf(id))
    else if (!collected.has(id)) missing.add(`the block ${id}`)
  }
  for (const ids of small.pages(SMALL_BLOCKS_PER_STEP)) {
    const rows = new Map<BlockId, Uint8Array>()
    for (const id of ids) rows.set(id, await snapshot.readBlock(id))
    await db.write((tx) => blockRows.insertSmall(tx, rows))
  }
  for (const ids of files.pages(ROWS_PER_TRANSACTION)) {
    const wanted = new Set(await blocks.missing(ids))
    for (const id of ids) if (wanted.has(id)) await blocks.put(id, await snapshot.readBlock(id))
  }
  return { restored: small.size + files.size, missing }
}

async function copyRows(
  snapshot: Snapshot,
  db: Database,
  table: string,
  oldKey: number,
  newKey: number,
): Promise<void> {
  const columns = snapshot.manifest.tables.find(({ name }) => name === table)?.columns
  if (columns === undefined) return
  const keyAt = columns.indexOf('library_key')
  let waiting: Value[][] = []
  const insert = async () => {
    const rows = waiting
    waiting = []
    if (rows.length > 0) await db.write((tx) => tx.insert(table, columns, rows, { ignoreExisting: true }))
  }
  for await (const page of snapshot.rows(table)) {
    for (const row of page) {
      if (row[keyAt] !== oldKey) continue
      waiting.push(row.with(keyAt, newKey))
      if (waiting.length >= ROWS_PER_TRANSACTION) await insert()
    }
  }
  await insert()
}
