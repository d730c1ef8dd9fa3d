import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type BlockId, idFromBytes } from '../../base/objects/index.ts'
import { blockRows, SMALLEST_STORED_BLOCK } from '../../libraries/content/index.ts'
import { UNFINISHED_RESTORE } from '../../platform/data-folder/index.ts'
import {
  bulkLoad,
  type Database,
  inspectDatabase,
  knownSchemaVersion,
  nameOfDatabase,
  openDatabase,
  type SnapshotTable,
  type Value,
} from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import { createFolder, syncFolder } from './durable-folders.ts'
import { forEachBlock } from './for-each-block.ts'
import { findGaps, nameOfGap } from './gaps.ts'
import type { SnapshotManifest } from './manifest.ts'
import { ScratchBlocks } from './scratch-store.ts'
import type { Snapshot } from './snapshot.ts'
import { HELD_BLOCKS } from './tables.ts'
import { BackupError } from './target.ts'

type DatabaseSetting = Parameters<typeof openDatabase>[0]

/** Where a server is restored to. */
interface RestorePlace {
  readonly dataDirectory: string
  readonly database: DatabaseSetting
  /** Opens the block store, which may have rows in the restored database. */
  openBlocks(db: Database): Promise<BlockStore>
}

/** What a restore brought back. */
interface RestoreReport {
  readonly snapshot: string
  readonly createdAt: string
  readonly tables: number
  readonly rows: number
  readonly blocks: number
  readonly bytes: number
  /** What the trees of the snapshot reach and the backup does not have, in words. */
  readonly missing: readonly string[]
}

interface RestoreOptions {
  /** Called once all rows are in place, with the schema of this program. */
  readonly onLoaded?: (db: Database) => Promise<void>
  readonly onStep?: (step: string) => void
}

const SMALL_BLOCKS_PER_STEP = 500

/**
 * Restores a whole server into an empty data folder and an empty database. May be repeated after it was interrupted. Throws BackupError if there
 * is data.
 */
export async function restoreServer(
  snapshot: Snapshot,
  place: RestorePlace,
  { onLoaded, onStep = () => {} }: RestoreOptions = {},
): Promise<RestoreReport> {
  const { manifest } = snapshot
  if (manifest.schemaVersion > knownSchemaVersion) {
    throw new BackupError(
      `The snapshot has schema version ${manifest.schemaVersion}, and this version of Carrel knows only up to ${knownSchemaVersion}: restore it with the version that made it, ${manifest.version}, or a newer one.`,
    )
  }
  const interrupted = await prepareFolder(place.dataDirectory)
  const isMigrating = await refuseData(place, manifest, interrupted)
  const marker = path.join(place.dataDirectory, UNFINISHED_RESTORE)
  await writeDurably(marker, `${manifest.id}\n${nameOfDatabase(place.database)}\n`)
  // The database gets its name last, so that a folder with a database is complete.
  const setting = unfinishedSetting(place.database)
  if (setting.kind === 'sqlite') await removeSqlite(setting.file)
  const missing = new Set<string>()
  const totals = { rows: 0, blocks: 0, bytes: 0 }
  // Rows fit only into a database that is not migrated yet. If it is, all of them were stored before.
  if (!isMigrating) {
    const upToVersion = manifest.schemaVersion
    await using db = await openDatabase(setting, { onFatal: fatal, upToVersion })
    // Of rows that migrations inserted, and of what an interrupted restore left.
    await db.write((tx) => bulkLoad.empty(tx, manifest.tables))
    for (const table of manifest.tables) {
      onStep(table.name)
      totals.rows += await loadTable(db, snapshot, table)
    }
    await bulkLoad.restoreSequences(db, new Map(Object.entries(manifest.sequences)))
  }
  {
    await using db = await openDatabase(setting, { onFatal: fatal })
    if (isMigrating) for (const { rows } of manifest.tables) totals.rows += rows
    onStep('blocks')
    {
      // After the migrations: the store may have rows of its own.
      await using blocks = await place.openBlocks(db)
      await restoreBlocks({ db, blocks, snapshot, missing, totals })
    }
    onStep('trees')
    for (const gap of await findGaps(db, (id) => snapshot.hasBlock(id))) missing.add(nameOfGap(gap))
    await onLoaded?.(db)
  }
  await restoreFile(path.join(place.dataDirectory, 'secret'), manifest.secret)
  await restoreFile(path.join(place.dataDirectory, 'carrel.json'), manifest.settings)
  if (setting.kind === 'sqlite' && place.database.kind === 'sqlite') {
    await rename(setting.file, place.database.file)
  }
  await syncFolder(place.dataDirectory)
  await rm(marker)
  await syncFolder(place.dataDirectory)
  return {
    snapshot: manifest.id,
    createdAt: manifest.createdAt,
    tables: manifest.tables.length,
    ...totals,
    missing: [...missing].sort(),
  }
}

/** What the marker says about a restore that was interrupted. */
interface InterruptedRestore {
  readonly snapshot: string
  /** As of `nameOfDatabase`; empty for a restore by an earlier version. */
  readonly database: string
}

/** Creates the folder. Undefined if no restore into it was interrupted. */
async function prepareFolder(folder: string): Promise<InterruptedRestore | undefined> {
  await createFolder(folder)
  if (!(await readdir(folder)).includes(UNFINISHED_RESTORE)) return undefined
  const text = await readFile(path.join(folder, UNFINISHED_RESTORE), 'utf8')
  const [snapshot = '', database = ''] = text.split('\n')
  return { snapshot, database }
}

const MAY_EXIST: ReadonlySet<string> = new Set(['carrel.json', 'secret', 'lost+found'])

/**
 * Throws BackupError if there is data that is not from an interrupted restore. Resolves to whether that restore was interrupted while it migrated
 * the database.
 */
async function refuseData(
  { dataDirectory, database }: RestorePlace,
  manifest: SnapshotManifest,
  interrupted: InterruptedRestore | undefined,
): Promise<boolean> {
  const found = (await readdir(dataDirectory)).filter((name) => !MAY_EXIST.has(name))
  if (interrupted === undefined && found.length > 0) {
    throw new BackupError(
      `The data folder ${dataDirectory} is not empty (${found.slice(0, 3).join(', ')}): move it away, or name another with --data. Nothing was changed.`,
    )
  }
  if (database.kind === 'sqlite') return false
  await using existing = await inspectDatabase(database)
  const version = existing?.schemaVersion ?? 0
  if (version === 0) return false
  // A data folder says nothing about other databases, which may be in use.
  if (interrupted?.database !== nameOfDatabase(database)) {
    const hint = interrupted ? ' To finish an interrupted restore, name its database exactly as before.' : ''
    throw new BackupError(
      `The database already holds data of Carrel: create an empty one and name it with --database.${hint} Nothing was changed.`,
    )
  }
  if (version <= manifest.schemaVersion) return false
  if (interrupted.snapshot === manifest.id) return true
  throw new BackupError(
    `A restore of the snapshot ${interrupted.snapshot} into this database was interrupted, and cannot be replaced by another: finish it with --snapshot ${interrupted.snapshot}, or name an empty folder with --data and an empty database with --database. Nothing was changed.`,
  )
}

function unfinishedSetting(database: DatabaseSetting): DatabaseSetting {
  return database.kind === 'sqlite' ? { ...database, file: `${database.file}.restoring` } : database
}

async function removeSqlite(file: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(file + suffix, { force: true })
}

async function loadTable(db: Database, snapshot: Snapshot, table: SnapshotTable): Promise<number> {
  const isKept = table.name === HELD_BLOCKS ? collectedFilter(snapshot, table.columns) : undefined
  return bulkLoad.load(db, table, filtered(snapshot.rows(table.name), isKept))
}

async function* filtered(
  pages: AsyncIterable<Value[][]>,
  isKept: ((row: Value[]) => boolean) | undefined,
): AsyncGenerator<Value[][], void> {
  for await (const page of pages) yield isKept === undefined ? page : page.filter(isKept)
}

/** Leaves out rows of blocks that garbage collection removed while the backup ran. */
function collectedFilter(
  snapshot: Snapshot,
  columns: readonly string[],
): ((row: Value[]) => boolean) | undefined {
  const collected = new Set(snapshot.manifest.collected)
  if (collected.size === 0) return undefined
  const at = columns.indexOf('block_id')
  return (row) => !collected.has(idFromBytes<BlockId>(row[at] as Uint8Array))
}

interface BlockRestore {
  readonly db: Database
  readonly blocks: BlockStore
  readonly snapshot: Snapshot
  readonly missing: Set<string>
  readonly totals: { blocks: number; bytes: number }
}

async function restoreBlocks({ db, blocks, snapshot, missing, totals }: BlockRestore): Promise<void> {
  using small = new ScratchBlocks()
  using files = new ScratchBlocks()
  const collected = new Set(snapshot.manifest.collected)
  for await (const { id, size } of snapshot.heldBlocks()) {
    if (snapshot.hasBlock(id)) (size < SMALLEST_STORED_BLOCK ? small : files).add(id, snapshot.placeOf(id))
    // Whether something reaches one that was collected is found out at the end.
    else if (!collected.has(id)) missing.add(`the block ${id}`)
  }
  for (const ids of small.pages(SMALL_BLOCKS_PER_STEP)) await restoreSmall(db, snapshot, ids, totals)
  await forEachBlock(files, async (id) => {
    const bytes = await snapshot.readBlock(id)
    await blocks.put(id, bytes)
    totals.blocks += 1
    totals.bytes += bytes.length
  })
}

async function restoreSmall(
  db: Database,
  snapshot: Snapshot,
  ids: readonly BlockId[],
  totals: { blocks: number; bytes: number },
): Promise<void> {
  const rows = new Map<BlockId, Uint8Array>()
  for (const id of ids) {
    const bytes = await snapshot.readBlock(id)
    rows.set(id, bytes)
    totals.bytes += bytes.length
  }
  await db.write((tx) => blockRows.insertSmall(tx, rows), { durable: 'replicated' })
  totals.blocks += rows.size
}

/** An existing file is kept: the operator put it there. */
async function restoreFile(file: string, text: string | null): Promise<void> {
  if (text === null) return
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' })
    await using handle = await open(file, 'r')
    await handle.sync()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  await using handle = await open(file, 'w', 0o600)
  await handle.writeFile(text)
  await handle.sync()
  await syncFolder(path.dirname(file))
}

function fatal(error: Error): never {
  throw new BackupError('The restored database cannot be written: see that the disk is sound.', {
    cause: error,
  })
}
