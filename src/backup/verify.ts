import type { BlockId } from '../objects/index.ts'
import { listSnapshotIds, readManifest } from './manifest.ts'
import { type BackupRepository, packName } from './repository.ts'
import { Snapshot } from './snapshot.ts'
import { BackupError } from './target.ts'

/** The result of a verification. */
interface VerifyReport {
  readonly snapshots: number
  readonly packs: number
  readonly bytes: number
  /** Whether every byte was read. */
  readonly readData: boolean
  /** One sentence each; empty if the backup is complete. */
  readonly problems: readonly string[]
  /** Blocks that the server had already lost when a snapshot was made. */
  readonly damagedAtSource: readonly { readonly snapshot: string; readonly id: string }[]
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
  const sizes = await repository.packSizes()
  let bytes = 0
  for (const entry of repository.index.packs.values()) {
    signal?.throwIfAborted()
    const name = packName(entry.id)
    bytes += entry.size
    const size = sizes.get(name)
    if (size === undefined) problems.push(`${name} is missing.`)
    else if (size !== entry.size) problems.push(`${name} has ${size} bytes instead of ${entry.size}.`)
    else if (readData) await collect(() => repository.verifyPack(entry))
  }
  const ids = await listSnapshotIds(repository)
  const damagedAtSource: { snapshot: string; id: string }[] = []
  for (const id of ids) {
    await collect(async () => {
      const manifest = await readManifest(repository, id)
      damagedAtSource.push(...manifest.damaged.map((block) => ({ snapshot: id, id: block.id })))
      await verifySnapshot(new Snapshot(repository, manifest), problems, signal)
    })
  }
  return {
    snapshots: ids.length,
    packs: repository.index.packs.size,
    bytes,
    readData,
    problems,
    damagedAtSource,
  }
}

async function verifySnapshot(
  snapshot: Snapshot,
  problems: string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { manifest } = snapshot
  const excused = new Set([...manifest.collected, ...manifest.damaged.map(({ id }) => id)])
  for (const table of manifest.tables) {
    signal?.throwIfAborted()
    let count = 0
    for await (const rows of snapshot.rows(table.name)) count += rows.length
    if (count !== table.rows) {
      problems.push(
        `The snapshot ${manifest.id} has ${count} rows of ${table.name} instead of ${table.rows}.`,
      )
    }
  }
  const missing = new Set<BlockId>()
  for await (const { id } of snapshot.heldBlocks()) {
    if (!snapshot.hasBlock(id) && !excused.has(id)) missing.add(id)
  }
  for (const id of missing) problems.push(`The snapshot ${manifest.id} lacks the block ${id}.`)
}
