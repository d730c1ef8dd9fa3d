import { forgetBroken, type TargetLock } from './lock.ts'
import { listPublished, manifestName, readManifest } from './manifest.ts'
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
 * snapshots are complete: manifests are removed first, and packs only after the index no longer lists them. What is to be removed is announced before, so that
 * whoever breaks the lock while this process stands still does not rely on it.
 */
export async function prune(
  repository: BackupRepository,
  retention: Retention,
  { lock, dryRun = false }: { lock: TargetLock; dryRun?: boolean },
): Promise<PruneReport> {
  const published = await listPublished(repository)
  const ids = published.valid
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
  const manifests = [...removed, ...published.void].map(manifestName)
  const rewritten: PackEntry[] = []
  for (const entry of plan.rewritten) rewritten.push(await copyNeeded(repository, entry, needed))
  const listed = [...plan.keep, ...rewritten]
  const isIndexNew = plan.removed.length + plan.rewritten.length > 0
  const oldIndex = isIndexNew ? await namesIn(repository, 'index/') : []
  const unlisted = await unlistedObjects(repository, listed)
  await lock.announceRemoval([...manifests, ...oldIndex, ...unlisted])
  const removeAll = async (names: readonly string[]) => {
    for (const name of names) {
      await lock.assertHeld()
      await repository.target.remove(name)
    }
  }
  await removeAll(manifests)
  if (isIndexNew) await repository.writeIndexObject(listed)
  await removeAll([...oldIndex, ...unlisted])
  await lock.assertHeld()
  if (isIndexNew) await repository.reload()
  await forgetBroken(repository.target)
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

/** Writes a new pack with the blobs of a pack that are needed. */
function copyNeeded(
  repository: BackupRepository,
  entry: PackEntry,
  needed: ReadonlySet<string>,
): Promise<PackEntry> {
  return repository.copyPack(
    entry.blobs.filter(
      ([kind, id]) => needed.has(kind + id) && repository.index.find(kind, id)?.pack === entry.id,
    ),
  )
}

async function namesIn(repository: BackupRepository, folder: string): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of repository.target.list(folder)) names.push(name)
  return names
}

/** Packs that are not listed, and unfinished files, which a killed backup or prune leaves behind. The lock excludes running writers. */
async function unlistedObjects(
  repository: BackupRepository,
  listed: readonly PackEntry[],
): Promise<string[]> {
  const kept = new Set(listed.map(({ id }) => packName(id)))
  const packs = await namesIn(repository, 'packs/')
  return [...(await namesIn(repository, UNFINISHED)), ...packs.filter((name) => !kept.has(name))]
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
