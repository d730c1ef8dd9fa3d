import { type BlockId, idFromBytes, idToBytes, sha1Hex } from '../../base/objects/index.ts'
import { blockRows, SMALLEST_STORED_BLOCK } from '../../libraries/content/index.ts'
import type { DatabaseSnapshot, SnapshotTable, Value } from '../../platform/database/index.ts'
import { BlockDamaged, BlockMissing, type BlockStore } from '../../platform/storage/index.ts'
import { forEachBlock } from './for-each-block.ts'
import { findGaps, type Gap } from './gaps.ts'
import type { TargetLock } from './lock.ts'
import {
  type DamagedBlock,
  type ManifestTable,
  manifestName,
  newSnapshotId,
  type SnapshotManifest,
  writeManifest,
} from './manifest.ts'
import type { BackupRepository } from './repository.ts'
import { RowChunker } from './row-format.ts'
import { ScratchBlocks, ScratchIds } from './scratch-store.ts'
import { findSections, planSections, type Section, type TableRows } from './sections.ts'
import { HELD_BLOCKS, isBackedUp, isSectioned } from './tables.ts'
import { BackupError } from './target.ts'

const SMALL_BLOCKS_PER_STEP = 500

/** Which references of libraries to blocks a snapshot leaves out. */
interface LeftOutReferences {
  has(libraryKey: number, blockId: Uint8Array): boolean
}

/** The server to be backed up. */
export interface BackupSource {
  /** Opens a read transaction of its own. */
  openSnapshot(): Promise<DatabaseSnapshot>
  /** The references that garbage collection has condemned, and that nothing in the snapshot reaches. */
  findGarbage(snapshot: DatabaseSnapshot): Promise<LeftOutReferences>
  /** The keys of libraries whose rows may change although there is no commit and nothing was collected. */
  findUnsettled(snapshot: DatabaseSnapshot): Promise<ReadonlySet<number>>
  readonly blocks: BlockStore
  /** False if garbage collection may have deleted blocks that rows of the snapshot refer to. */
  areBlocksKept(): Promise<boolean>
  /** The subset of blocks that a library holds now. */
  heldNow(ids: readonly BlockId[]): Promise<ReadonlySet<BlockId>>
  /** Text of the file `secret`, or of CARREL_SECRET. */
  readonly secret: string | null
  /** Text of `carrel.json`. */
  readonly settings: string | null
  readonly host: string
  readonly version: string
}

/** Progress of a backup, for the terminal. */
type BackupStep =
  | { readonly step: 'rows'; readonly table: string }
  | { readonly step: 'blocks'; readonly left: number }

interface CreateOptions {
  /** The lock of the target, held for writing. */
  readonly lock: TargetLock
  readonly onStep?: (step: BackupStep) => void
  readonly signal?: AbortSignal
}

/**
 * Adds a snapshot of the server to the repository. The database is read in one transaction; block files are copied afterwards, because they never
 * change. Only data that the repository lacks is written, and rows of libraries without new commits are not read. An interrupted backup is resumed by the next one, which reuses the written objects. Throws BackupError,
 * and leaves no snapshot, if something it relies on was removed meanwhile.
 */
export async function createSnapshot(
  repository: BackupRepository,
  source: BackupSource,
  { lock, onStep = () => {}, signal }: CreateOptions,
): Promise<SnapshotManifest> {
  const createdAt = new Date()
  await repository.beginWriting(lock)
  using held = new HeldBlocks(repository)
  const dumped = await dumpDatabase(repository, source, held, { onStep, ...(signal && { signal }) })
  const unreadable = await copyBlockFiles(repository, source.blocks, held.files, {
    onStep,
    ...(signal && { signal }),
  })
  const damaged = [...held.unreadable, ...unreadable]
  await refuseCollected(source, damaged)
  await repository.flush()
  const manifest: SnapshotManifest = {
    id: newSnapshotId(createdAt, lock.id),
    createdAt: createdAt.toISOString(),
    finishedAt: new Date().toISOString(),
    host: source.host,
    version: source.version,
    ...dumped,
    secret: source.secret,
    settings: source.settings,
    collected: [],
    damaged,
    addedBytes: repository.writtenBytes,
    lock: lock.id,
  }
  signal?.throwIfAborted()
  await publish(repository, manifest)
  return manifest
}

/**
 * A target has no transactions. Whoever breaks the lock looks for manifests after it has said so. If that comes after the last line here, the manifest is found and nothing of
 * it is removed; if it comes before, it is seen here and the manifest is withdrawn.
 */
async function publish(repository: BackupRepository, manifest: SnapshotManifest): Promise<void> {
  await repository.assertWritten()
  await writeManifest(repository, manifest)
  try {
    await repository.assertWritten()
  } catch (error) {
    await repository.target.remove(manifestName(manifest.id))
    throw error
  }
}

/** Collects the blocks that libraries hold from the rows of the table while they are copied. */
class HeldBlocks implements Disposable {
  readonly #repository: BackupRepository
  readonly #seen = new ScratchIds()
  /** Small blocks that are not in the repository yet. */
  small: BlockId[] = []
  /** Blocks in files that are not in the repository yet. */
  readonly files = new ScratchBlocks()
  readonly unreadable: DamagedBlock[] = []

  constructor(repository: BackupRepository) {
    this.#repository = repository
  }

  add(id: BlockId, size: number): void {
    if (!this.#seen.add(idToBytes(id))) return
    if (this.#repository.has('block', id)) return
    if (size < SMALLEST_STORED_BLOCK) this.small.push(id)
    else this.files.add(id)
  }

  [Symbol.dispose](): void {
    this.#seen[Symbol.dispose]()
    this.files[Symbol.dispose]()
  }
}

type Dumped = Pick<
  SnapshotManifest,
  'schemaVersion' | 'database' | 'tables' | 'sections' | 'sequences' | 'gaps' | 'blocks'
>

async function dumpDatabase(
  repository: BackupRepository,
  source: BackupSource,
  held: HeldBlocks,
  { onStep, signal }: Required<Pick<CreateOptions, 'onStep'>> & { signal?: AbortSignal },
): Promise<Dumped> {
  await using snapshot = await source.openSnapshot()
  const dump: Dump = { repository, snapshot, garbage: await source.findGarbage(snapshot), held }
  const { sections, gaps } = await dumpSections(dump, await source.findUnsettled(snapshot), signal)
  const tables: ManifestTable[] = []
  for (const table of snapshot.tables) {
    if (!isBackedUp(table.name)) continue
    signal?.throwIfAborted()
    onStep({ step: 'rows', table: table.name })
    const { name, columns } = table
    const { rows, chunks } = isSectioned(table)
      ? joined(sections, name)
      : await dumpRows(repository, snapshot.rows(table))
    tables.push({ name, columns, rows, chunks: await addList(repository, chunks) })
  }
  return {
    schemaVersion: snapshot.schemaVersion,
    database: snapshot.dialect,
    tables,
    sections: await addList(repository, sections),
    sequences: Object.fromEntries([...snapshot.sequences].filter(([table]) => isBackedUp(table))),
    gaps,
    blocks: {
      count: sum(sections.map(({ blocks }) => blocks.count)),
      bytes: sum(sections.map(({ blocks }) => blocks.bytes)),
    },
  }
}

/** What the rows of a snapshot are read from and written to. */
interface Dump {
  readonly repository: BackupRepository
  readonly snapshot: DatabaseSnapshot
  readonly garbage: LeftOutReferences
  readonly held: HeldBlocks
}

/** The rows of libraries: those of the snapshot before where nothing has changed since, and otherwise those of the database. */
async function dumpSections(
  dump: Dump,
  unsettled: ReadonlySet<number>,
  signal: AbortSignal | undefined,
): Promise<{ sections: Section[]; gaps: Gap[] }> {
  const { repository, snapshot, garbage } = dump
  const sections: Section[] = []
  const gaps: Gap[] = []
  const isStored = ({ tables }: Section) =>
    Object.values(tables).every(({ chunks }) => chunks.every((chunk) => repository.has('rows', chunk)))
  const known = await findSections(repository, snapshot)
  for await (const { found, state, ...range } of planSections(snapshot, known, unsettled)) {
    signal?.throwIfAborted()
    if (found !== undefined && isStored(found)) {
      sections.push(found)
      continue
    }
    sections.push({ last: range.last, state, ...(await dumpSection(dump, range)) })
    // The bytes of the blocks are copied later, and those that cannot be read are listed then.
    gaps.push(...(await findGaps(snapshot, (id, key) => !garbage.has(key, idToBytes(id)), range)))
  }
  return { sections, gaps }
}

async function dumpSection(
  { repository, snapshot, garbage, held }: Dump,
  range: { readonly after: number; readonly last: number },
): Promise<Pick<Section, 'tables' | 'blocks'>> {
  const tables: Record<string, TableRows> = {}
  const blocks = { count: 0, bytes: 0 }
  for (const table of snapshot.tables.filter(isSectioned)) {
    const pages = snapshot.rows(table, range)
    if (table.name !== HELD_BLOCKS) {
      tables[table.name] = await dumpRows(repository, pages)
      continue
    }
    const sizeAt = table.columns.indexOf('size')
    const collect = blockCollector(repository, snapshot, table, held)
    tables[table.name] = await dumpRows(repository, pages, {
      isKept: garbageFilter(garbage, table),
      onPage: async (rows) => {
        blocks.count += rows.length
        for (const row of rows) blocks.bytes += Number(row[sizeAt])
        await collect(rows)
      },
    })
  }
  return { tables, blocks }
}

function joined(sections: readonly Section[], table: string): TableRows {
  const all = sections.flatMap(({ tables }) => tables[table] ?? [])
  return { rows: sum(all.map(({ rows }) => rows)), chunks: all.flatMap(({ chunks }) => chunks) }
}

function addList(repository: BackupRepository, list: readonly unknown[]): Promise<string> {
  return repository.addRows(Buffer.from(JSON.stringify(list)))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

async function dumpRows(
  repository: BackupRepository,
  pages: AsyncIterable<readonly Value[][]>,
  {
    isKept,
    onPage,
  }: {
    readonly isKept?: (row: readonly Value[]) => boolean
    readonly onPage?: (rows: readonly Value[][]) => Promise<void>
  } = {},
): Promise<TableRows> {
  const chunker = new RowChunker()
  const chunks: string[] = []
  const keep = async (chunk: Buffer | undefined) => {
    if (chunk !== undefined) chunks.push(await repository.addRows(chunk))
  }
  let count = 0
  for await (const page of pages) {
    const rows = isKept === undefined ? page : page.filter(isKept)
    for (const row of rows) await keep(chunker.push(row))
    count += rows.length
    await onPage?.(rows)
  }
  await keep(chunker.end())
  return { rows: count, chunks }
}

/** Returns a predicate that excludes rows of unreachable blocks, so that a backup does not store what garbage collection is about to delete. */
function garbageFilter(
  garbage: LeftOutReferences,
  { columns }: SnapshotTable,
): (row: readonly Value[]) => boolean {
  const keyAt = columns.indexOf('library_key')
  const idAt = columns.indexOf('block_id')
  return (row) => !garbage.has(Number(row[keyAt]), row[idAt] as Uint8Array)
}

/** Stores small blocks while their rows are read, as long as the snapshot is open. */
function blockCollector(
  repository: BackupRepository,
  snapshot: DatabaseSnapshot,
  { columns }: SnapshotTable,
  held: HeldBlocks,
): (rows: readonly Value[][]) => Promise<void> {
  const idAt = columns.indexOf('block_id')
  const sizeAt = columns.indexOf('size')
  return async (rows) => {
    for (const row of rows) held.add(idFromBytes<BlockId>(row[idAt] as Uint8Array), Number(row[sizeAt]))
    while (held.small.length > 0) {
      const ids = held.small.splice(0, SMALL_BLOCKS_PER_STEP)
      const found = await blockRows.readSmall(snapshot, ids)
      for (const id of ids) {
        const data = found.get(id)
        if (data === undefined) held.unreadable.push({ id, reason: 'Its row is missing.' })
        else if (sha1Hex(data) !== id) held.unreadable.push({ id, reason: 'Its row is damaged.' })
        else await repository.add('block', id, data)
      }
    }
  }
}

async function copyBlockFiles(
  repository: BackupRepository,
  blocks: BlockStore,
  ids: ScratchBlocks,
  { onStep, signal }: Required<Pick<CreateOptions, 'onStep'>> & { signal?: AbortSignal },
): Promise<DamagedBlock[]> {
  const unreadable: DamagedBlock[] = []
  let left = ids.size
  const copy = async (id: BlockId) => {
    signal?.throwIfAborted()
    if (--left % 100 === 0) onStep({ step: 'blocks', left })
    try {
      const chunks: Buffer[] = []
      for await (const chunk of blocks.read(id, undefined, { stored: true })) chunks.push(chunk)
      await repository.add('block', id, Buffer.concat(chunks))
    } catch (error) {
      if (!(error instanceof BlockMissing || error instanceof BlockDamaged)) throw error
      unreadable.push({ id, reason: error.message })
    }
  }
  await forEachBlock(ids, copy)
  return unreadable
}

/**
 * A block that a library still holds is lost, and is named in the manifest. One that no library holds any more was in use when the rows were read, and was
 * collected before it was copied. Without the lease nothing can be said about those that could not be read.
 */
async function refuseCollected(source: BackupSource, unreadable: readonly DamagedBlock[]): Promise<void> {
  const held = await source.heldNow(unreadable.map(({ id }) => id as BlockId))
  if (unreadable.every(({ id }) => held.has(id as BlockId)) && (await source.areBlocksKept())) return
  throw new BackupError(
    'The backup stood still for so long that garbage collection went on without it, and may have deleted blocks of the snapshot: run the backup again. Nothing is lost.',
  )
}
