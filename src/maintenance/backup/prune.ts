import { forgetBroken, type TargetLock } from './lock.ts'
import { listPublished, manifestName, readManifest } from './manifest.ts'
import type { PackEntry } from './pack-index-store.ts'
import { type BackupRepository, packIdOf } from './repository.ts'
import { ScratchIds } from './scratch-store.ts'
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
/** Bounds the memory that an index object needs. */
const BLOBS_PER_INDEX = 50_000

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
  using needed = new ScratchIds()
  for (const id of ids) if (kept.has(id)) await addNeeded(repository, id, needed)
  const plan = planPacks(repository, needed)
  const report = {
    kept: ids.filter((id) => kept.has(id)),
    removed,
    removedPacks: plan.removed.size,
    rewrittenPacks: plan.rewritten.size,
    freedBytes: plan.freedBytes,
  }
  if (dryRun) return report
  const manifests = [...removed, ...published.void].map(manifestName)
  const isIndexNew = plan.removed.size + plan.rewritten.size > 0
  const oldIndex = isIndexNew ? await namesIn(repository, 'index/') : []
  const written = isIndexNew ? await writeIndex(repository, plan, needed) : new Set<string>()
  const unlisted = await unlistedObjects(repository, plan, written)
  await lock.announceRemoval([...manifests, ...oldIndex, ...unlisted])
  const removeAll = async (names: readonly string[]) => {
    for (const name of names) {
      await lock.assertHeld()
      await repository.target.remove(name)
    }
  }
  await removeAll(manifests)
  await removeAll([...oldIndex, ...unlisted])
  await lock.assertHeld()
  if (isIndexNew) await repository.reload()
  await forgetBroken(repository.target)
  return report
}

/** Adds the ids of all blobs of a snapshot. */
async function addNeeded(repository: BackupRepository, id: string, needed: ScratchIds): Promise<void> {
  const snapshot = new Snapshot(repository, await readManifest(repository, id))
  const add = (blob: string) => needed.add(Buffer.from(blob, 'hex'))
  if (snapshot.manifest.sections !== undefined) add(snapshot.manifest.sections)
  for (const table of snapshot.manifest.tables) {
    add(table.chunks)
    for (const chunk of await snapshot.chunksOf(table)) add(chunk)
  }
  for await (const block of snapshot.heldBlocks()) add(block.id)
}

/** The ids of packs. All others are kept. */
interface PackPlan {
  readonly removed: Set<string>
  readonly rewritten: Set<string>
  freedBytes: number
}

function planPacks(repository: BackupRepository, needed: ScratchIds): PackPlan {
  const plan: PackPlan = { removed: new Set(), rewritten: new Set(), freedBytes: 0 }
  for (const entry of repository.index.packs()) {
    let used = 0
    for (const [, , length] of neededOf(repository, entry, needed)) used += length
    if (used === 0) {
      plan.removed.add(entry.id)
      plan.freedBytes += entry.size
    } else if (used < entry.size * (1 - UNUSED_SHARE)) {
      plan.rewritten.add(entry.id)
      plan.freedBytes += entry.size - used
    }
  }
  return plan
}

/** The blobs of a pack that are needed. One that two packs have is needed in the one the index prefers. */
function neededOf(repository: BackupRepository, entry: PackEntry, needed: ScratchIds): PackEntry['blobs'] {
  return entry.blobs.filter(
    ([, id]) => needed.has(Buffer.from(id, 'hex')) && repository.index.find(id)?.pack === entry.id,
  )
}

/** Writes packs with what is needed of those that are rewritten, and index objects for all packs that stay. Returns the ids of the new packs. */
async function writeIndex(
  repository: BackupRepository,
  plan: PackPlan,
  needed: ScratchIds,
): Promise<Set<string>> {
  const written = new Set<string>()
  let batch: PackEntry[] = []
  let blobs = 0
  const flush = async () => {
    if (batch.length > 0) await repository.writeIndexObject(batch)
    batch = []
    blobs = 0
  }
  for (const entry of repository.index.packs()) {
    if (plan.removed.has(entry.id)) continue
    let listed = entry
    if (plan.rewritten.has(entry.id)) {
      listed = await repository.copyPack(neededOf(repository, entry, needed))
      written.add(listed.id)
    }
    batch.push(listed)
    blobs += listed.blobs.length
    if (blobs >= BLOBS_PER_INDEX) await flush()
  }
  await flush()
  return written
}

async function namesIn(repository: BackupRepository, folder: string): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of repository.target.list(folder)) names.push(name)
  return names
}

/** Packs that are not listed, and unfinished files, which a killed backup or prune leaves behind. The lock excludes running writers. */
async function unlistedObjects(
  repository: BackupRepository,
  { removed, rewritten }: PackPlan,
  written: ReadonlySet<string>,
): Promise<string[]> {
  const names = await namesIn(repository, UNFINISHED)
  for await (const { name } of repository.target.list('packs/')) {
    const id = packIdOf(name)
    const isKept = repository.index.has(id) && !removed.has(id) && !rewritten.has(id)
    if (!isKept && !written.has(id)) names.push(name)
  }
  return names
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
