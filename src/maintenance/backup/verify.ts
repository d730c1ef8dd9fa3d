import { bulkLoad } from '../../platform/database/index.ts'
import { findGaps, nameOfGap } from './gaps.ts'
import { listSnapshotIds, readManifest } from './manifest.ts'
import { type BackupRepository, packName } from './repository.ts'
import { Snapshot } from './snapshot.ts'
import { TREE_TABLES } from './tables.ts'
import { BackupError } from './target.ts'
import { TemporaryDatabase } from './temporary-database.ts'

/** Missing parts of one snapshot that are named. */
const MOST_LISTED = 10_000

/** The result of a verification. */
interface VerifyReport {
  readonly snapshots: number
  readonly packs: number
  readonly bytes: number
  /** Whether every byte was read. */
  readonly readData: boolean
  /** One sentence each; empty if the backup is complete. */
  readonly problems: readonly string[]
  /** What the server had already lost when a snapshot was made. `name` is for messages. */
  readonly damagedAtSource: readonly {
    readonly snapshot: string
    readonly id: string
    readonly name: string
  }[]
}

/**
 * Verifies that everything the snapshots refer to is in the target. With `readData`, every pack is read and hashed; otherwise packs must exist with
 * their size, and only the rows are read.
 */
export async function verifyBackup(
  repository: BackupRepository,
  { readData = false, signal }: { readData?: boolean; signal?: AbortSignal } = {},
): Promise<VerifyReport> {
  const problems: string[] = []
  const collect = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof BackupError)) throw error
      problems.push(error.message)
    }
  }
  const unusable = await repository.reload()
  if (readData) await readPacks(repository, collect, signal)
  const ids = await listSnapshotIds(repository)
  const damagedAtSource: { snapshot: string; id: string; name: string }[] = []
  const lost = (snapshot: string, id: string, name: string) => damagedAtSource.push({ snapshot, id, name })
  for (const id of ids) {
    await collect(async () => {
      const manifest = await readManifest(repository, id)
      for (const block of manifest.damaged) lost(id, block.id, `the block ${block.id}`)
      for (const gap of manifest.gaps ?? []) lost(id, gap.id, nameOfGap(gap))
      await verifySnapshot(new Snapshot(repository, manifest), problems, signal)
    })
  }
  // A backup whose lock was broken may list packs that were removed. They are not missed if no snapshot needs them.
  const isLacking = problems.length > 0
  for (const { id, size, found } of unusable) {
    const name = packName(id)
    if (found !== undefined) problems.push(`${name} has ${found} bytes instead of ${size}.`)
    else if (isLacking) problems.push(`${name} is missing.`)
  }
  return {
    snapshots: ids.length,
    packs: repository.index.count,
    bytes: repository.index.bytes,
    readData,
    problems,
    damagedAtSource,
  }
}

/** Apart from the snapshots, so that the list of the last pack is not kept while they are verified. */
async function readPacks(
  repository: BackupRepository,
  collect: (work: () => Promise<void>) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const entry of repository.index.packs()) {
    signal?.throwIfAborted()
    await collect(() => repository.verifyPack(entry))
  }
}

async function verifySnapshot(
  snapshot: Snapshot,
  problems: string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { manifest } = snapshot
  const lacking = new Set<string>()
  const lack = (what: string) => lacking.size < MOST_LISTED && lacking.add(what)
  const known = new Set([...manifest.damaged, ...(manifest.gaps ?? [])].map(({ id }) => id))
  await using rows = await TemporaryDatabase.open(snapshot, async (db) => {
    for (const table of manifest.tables) {
      signal?.throwIfAborted()
      const count = TREE_TABLES.has(table.name)
        ? await bulkLoad.load(db, table, snapshot.rows(table.name))
        : await countRows(snapshot, table.name)
      if (count === table.rows) continue
      problems.push(
        `The snapshot ${manifest.id} has ${count} rows of ${table.name} instead of ${table.rows}.`,
      )
    }
  })
  for (const gap of await findGaps(rows.db, (id) => snapshot.hasBlock(id))) {
    if (!known.has(gap.id)) lack(nameOfGap(gap))
  }
  // What nothing reaches is held, too. Earlier versions listed what was collected while the backup ran, and did not look whether something reaches it.
  for (const id of manifest.collected) known.add(id)
  for await (const { id } of snapshot.heldBlocks()) {
    if (!snapshot.hasBlock(id) && !known.has(id)) lack(`the block ${id}`)
  }
  for (const what of lacking) problems.push(`The snapshot ${manifest.id} lacks ${what}.`)
}

async function countRows(snapshot: Snapshot, table: string): Promise<number> {
  let count = 0
  for await (const rows of snapshot.rows(table)) count += rows.length
  return count
}
