import { listSnapshotIds, readManifest, removeManifest } from './manifest.ts'
import type { PackEntry } from './pack-index.ts'
import { type BackupRepository, packName } from './repository.ts'
import { Snapshot } from './snapshot.ts'
import { UNFINISHED } from './target.ts'

/** How many snapshots are kept: the newest, and the newest of so many days, weeks and months (UTC). */
export interface Retention {
  readonly last: number
  readonly daily: number
  readonly weekly: number
  readonly monthly: number
}

/** What pruning removed. */
interface PruneReport {
  readonly kept: readonly string[]
  readonly removed: readonly string[]
  readonly removedPacks: number
  readonly rewrittenPacks: number
  readonly freedBytes: number
}

/** A pack is written again without its unused blobs when they are more than this part of it. */
const UNUSED_SHARE = 0.25

/** The ids of the snapshots that a retention keeps. The newest is always among them. */
export function selectKept(ids: readonly string[], retention: Retention): Set<string> {
  const newestFirst = ids.toSorted().toReversed()
  const kept = new Set(newestFirst.slice(0, Math.max(1, retention.last)))
  const keepPer = (count: number, periodOf: (time: Date) => string) => {
    const periods = new Set<string>()
    for (const id of newestFirst) {
      const period = periodOf(timeOf(id))
      if (periods.has(period)) continue
      if (periods.size === count) return
      periods.add(period)
      kept.add(id)
    }
  }
  keepPer(retention.daily, (time) => time.toISOString().slice(0, 10))
  keepPer(retention.weekly, weekOf)
  keepPer(retention.monthly, (time) => time.toISOString().slice(0, 7))
  return kept
}

/**
 * Removes snapshots that the retention does not keep, and then everything that no remaining snapshot needs. Stopped at any time, the remaining
 * snapshots are complete: manifests are removed first, and packs only after the index no longer lists them.
 */
export async function prune(
  repository: BackupRepository,
  retention: Retention,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<PruneReport> {
  const ids = await listSnapshotIds(repository)
  const kept = selectKept(ids, retention)
  const removed = ids.filter((id) => !kept.has(id))
  // Read before anything is removed: a damaged manifest stops here.
  const needed = await neededBlobs(
    repository,
    ids.filter((id) => kept.has(id)),
  )
  const plan = planPacks(repository, needed)
  const report = {
    kept: ids.filter((id) => kept.has(id)),
    removed,
    removedPacks: plan.removed.length,
    rewrittenPacks: plan.rewritten.length,
    freedBytes: plan.freedBytes,
  }
  if (dryRun) return report
  for (const id of removed) await removeManifest(repository, id)
  const listed = await indexObjects(repository)
  if (plan.removed.length + plan.rewritten.length > 0) await rewrite(repository, plan, needed, listed)
  await removeUnlisted(repository)
  return report
}

async function neededBlobs(repository: BackupRepository, ids: readonly string[]): Promise<Set<string>> {
  const needed = new Set<string>()
  for (const id of ids) {
    const snapshot = new Snapshot(repository, await readManifest(repository, id))
    for (const table of snapshot.manifest.tables) {
      needed.add(`rows${table.chunks}`)
      for (const chunk of await snapshot.chunksOf(table)) needed.add(`rows${chunk}`)
    }
    for await (const block of snapshot.heldBlocks()) needed.add(`block${block.id}`)
  }
  return needed
}

interface PackPlan {
  readonly keep: PackEntry[]
  readonly removed: PackEntry[]
  readonly rewritten: PackEntry[]
  freedBytes: number
}

function planPacks(repository: BackupRepository, needed: ReadonlySet<string>): PackPlan {
  const plan: PackPlan = { keep: [], removed: [], rewritten: [], freedBytes: 0 }
  for (const entry of repository.index.packs.values()) {
    let used = 0
    for (const [kind, id, length] of entry.blobs) {
      // A blob that two packs have is needed in the one the index prefers.
      if (needed.has(kind + id) && repository.index.find(kind, id)?.pack === entry.id) used += length
    }
    if (used === 0) {
      plan.removed.push(entry)
      plan.freedBytes += entry.size
    } else if (used < entry.size * (1 - UNUSED_SHARE)) {
      plan.rewritten.push(entry)
      plan.freedBytes += entry.size - used
    } else plan.keep.push(entry)
  }
  return plan
}

/** New packs and a new index first, then the old index, then the old packs. */
async function rewrite(
  repository: BackupRepository,
  plan: PackPlan,
  needed: ReadonlySet<string>,
  oldIndex: readonly string[],
): Promise<void> {
  const rewritten: PackEntry[] = []
  for (const entry of plan.rewritten) {
    const blobs = entry.blobs.filter(
      ([kind, id]) => needed.has(kind + id) && repository.index.find(kind, id)?.pack === entry.id,
    )
    rewritten.push(await repository.copyPack(blobs))
  }
  const written = await repository.writeIndexObject([...plan.keep, ...rewritten])
  for (const name of oldIndex) if (name !== written) await repository.target.remove(name)
  for (const entry of [...plan.removed, ...plan.rewritten]) await repository.target.remove(packName(entry.id))
  await repository.reload()
}

async function indexObjects(repository: BackupRepository): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of repository.target.list('index/')) names.push(name)
  return names
}

/** Deletes packs without an index and unfinished files, which a killed backup or prune leaves behind. The lock excludes running writers. */
async function removeUnlisted(repository: BackupRepository): Promise<void> {
  for await (const { name } of repository.target.list(UNFINISHED)) await repository.target.remove(name)
  const listed = new Set([...repository.index.packs.keys()].map(packName))
  for await (const { name } of repository.target.list('packs/')) {
    if (!listed.has(name)) await repository.target.remove(name)
  }
}

function timeOf(id: string): Date {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-/.exec(id) ?? []
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

/** The Monday of the week. */
function weekOf(time: Date): string {
  const monday = new Date(time)
  monday.setUTCDate(time.getUTCDate() - ((time.getUTCDay() + 6) % 7))
  return monday.toISOString().slice(0, 10)
}
