import type { DirId } from '../../base/objects/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { commitRows } from '../../libraries/commits/index.ts'
import { positionRows } from '../../libraries/consumers/index.ts'
import { condemnedBlocks } from '../../libraries/content/index.ts'
import {
  deleteFirstSeen,
  deleteOrigins,
  deletePathIndexBelow,
  oldestShown,
} from '../../libraries/history/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import { withoutUncommitted } from '../../libraries/push/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryHeads, libraryRenames, libraryRows } from '../../libraries/registry/index.ts'
import { condemnedObjects, prepareWholeDir } from '../../libraries/tree/index.ts'
import { deleteViewCommitsBelow, deleteViewObjects, listViewRoots } from '../../libraries/views/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { listTicketObjects } from '../../sharing/access/index.ts'
import { listTaskRoots } from '../jobs/index.ts'
import {
  type CollectedLibrary,
  findCollected,
  holdCut,
  putCut,
  setCollected,
  setCut,
} from './collection-store.ts'
import type { GcContext } from './collector.ts'
import { type Marked, type MarkOptions, mark } from './mark.ts'
import type { HeldLease } from './operation-leases.ts'
import { Figures, type GcLibraryReport } from './report.ts'
import { findStalePaths, type StalePaths, type StalePathsInput } from './stale-paths.ts'
import { StepSize } from './step-size.ts'

// Up to this many files and commits are marked in this process. More are marked in a side process.
const MAX_IN_PROCESS = 2000
// Bounds the memory of the lists: 20 MB each. The rest follows in the next run.
const MAX_AT_ONCE = 1_000_000
// Bounds the memory of a mark: 40 MB for each of its four sets.
const MAX_IDS_IN_MEMORY = 1_000_000
const ID_BYTES = 20

const markProcess = new URL('./mark-process.ts', import.meta.url)
const stalePathsProcess = new URL('./stale-paths-process.ts', import.meta.url)

/** Collects one library. Undefined if there is nothing to do. Throws ObjectMissing for a damaged library, of which nothing is deleted. */
export async function collectLibrary(context: GcContext, key: number): Promise<GcLibraryReport | undefined> {
  const { db, now, graceSeconds, dryRun } = context
  // Before anything is read: what began later sees what is condemned now.
  const bound = await context.leases.bound('rows')
  const library = await libraryRows.findByKey(db, key)
  // A library without commits is being restored from a backup. If that was interrupted, it is purged like a deleted one.
  if (library === undefined || library.headSeq === 0) return undefined
  const before = Math.min(bound.at, now() - graceSeconds + 1)
  const known = await findCollected(db, key)
  const { oldest, unprocessed } = await keptFrom(context, library)
  if (known !== undefined && (await isDone(context, library, known, oldest))) return undefined
  const figures = new Figures()
  const { keptSeq, reasons } = await cut(context, library, { known, oldest, before }, figures)
  const marked = await findUnreachable(context, library, keptSeq)
  if (marked === undefined) return undefined
  if (dryRun) figures.addMarked(marked)
  else await apply(context, library, { marked, keptSeq, before }, figures)
  figures.waitingBytes += marked.referenceBytes
  const isEmpty = marked.unreachable.length + marked.unreachableReferences.length === 0
  if (!dryRun && isEmpty) {
    await db.write((tx) => setCollected(tx, key, { head: library.head, at: now() }), { durable: false })
  }
  if (figures.waitingBytes > 0) {
    reasons.push(
      `${figures.waitingBytes} bytes are referred to by nothing and wait for the grace period of ${graceSeconds} s`,
    )
  }
  if (unprocessed > 0) {
    reasons.push(
      `${unprocessed} commits beyond the history limit wait until the activity feed has processed them`,
    )
  }
  if (bound.holder !== undefined) reasons.push(reasonOf(bound.holder))
  return { id: library.id, name: library.name, reasons, ...figures.values() }
}

function reasonOf({ purpose, pid, host, since, silentSince }: HeldLease): string {
  const holder = `an operation of the ${purpose} with process id ${pid} on ${host}`
  const began = new Date(since * 1000).toISOString()
  if (silentSince === undefined) return `${holder} has been running since ${began}`
  return `${holder} began at ${began}, and the process has not been heard of since ${new Date(silentSince * 1000).toISOString()}; it is given up ten minutes after that`
}

/** The oldest commit that is still needed: shown to users, or not processed by every consumer. */
async function keptFrom(
  context: GcContext,
  library: LibraryInfo,
): Promise<{ oldest: number; unprocessed: number }> {
  const { core, db, now } = context
  const source = { db, now, defaultHistoryDays: core.defaultHistoryDays }
  const shown = Math.min(await oldestShown(source, library), library.headSeq)
  await storesOf(core).pathIndex.catchUp(library)
  // A dry run must not notify users of commits.
  if (!context.dryRun) await context.processCommits(library.key)
  const oldest = Math.min(shown, (await positionRows.slowest(db, library.key)) ?? shown)
  return { oldest, unprocessed: shown - oldest }
}

async function isDone(
  { db, now, graceSeconds }: GcContext,
  library: LibraryInfo,
  { keptSeq, isCut, head, collectedAt }: CollectedLibrary,
  oldest: number,
): Promise<boolean> {
  if (!isCut || oldest > keptSeq || head !== library.head) return false
  if (collectedAt === undefined || collectedAt <= now() - graceSeconds) return false
  return (
    !(await condemnedObjects.has(db, library.key)) && !(await condemnedBlocks.hasReferences(db, library.key))
  )
}

/**
 * Gives up the history beyond retention in two steps. First it cannot be shown any more, whatever the settings become, so that nothing
 * new can refer to it. A grace period later its commits are deleted, before their trees are.
 */
async function cut(
  context: GcContext,
  library: LibraryInfo,
  { known, oldest, before }: { known: CollectedLibrary | undefined; oldest: number; before: number },
  figures: Figures,
): Promise<{ keptSeq: number; reasons: string[] }> {
  const { db, now, dryRun, dutyCycle } = context
  const { key } = library
  const reasons: string[] = []
  let keptSeq = known?.keptSeq ?? 1
  let isCut = known?.isCut ?? true
  if (!isCut && known !== undefined && known.cutAt < before) {
    if (!dryRun) {
      for (const size = new StepSize(); ; ) {
        const gone = await size.run(() =>
          db.write(
            async (tx) => {
              const commits = await commitRows.deleteBelow(tx, key, keptSeq, size.rows)
              const rows = await deletePathIndexBelow(tx, key, keptSeq, size.rows)
              return { commits, rows }
            },
            { durable: false },
          ),
        )
        figures.deleted.commits += gone.commits
        if (gone.commits + gone.rows === 0) break
        await dutyCycle.rest()
      }
      await deleteStalePaths(context, library, keptSeq)
      await db.write(async (tx) => {
        await deleteViewCommitsBelow(tx, key, keptSeq)
        await libraryRenames.deleteBelow(tx, key, keptSeq)
        await setCut(tx, key, keptSeq)
        // Backups leave out what is gone, too.
        await libraryHeads.raiseObjectsEpoch(tx, key)
      })
    }
    isCut = true
  }
  if (isCut && (known === undefined || oldest > keptSeq)) {
    keptSeq = Math.max(keptSeq, oldest)
    if (!dryRun) {
      keptSeq = await db.write(async (tx) => {
        // The first commit is always shown, so there is nothing to hide below it.
        if (keptSeq > 1) await libraryHeads.raiseValidSince(tx, key, keptSeq)
        return putCut(tx, key, { keptSeq, at: now() })
      })
    }
  } else if (oldest > keptSeq) {
    reasons.push('history beyond its limit is deleted after what was given up before it')
  }
  return { keptSeq, reasons }
}

/** Deletes rows of the path index that only the history below a commit needed. */
async function deleteStalePaths(
  { db, dutyCycle, signal = new AbortController().signal }: GcContext,
  library: LibraryInfo,
  keptSeq: number,
): Promise<void> {
  const { key } = library
  const [kept] = await commitRows.listDown(db, library, keptSeq, keptSeq)
  if (kept === undefined) return
  const input: StalePathsInput = {
    libraryKey: key,
    roots: [kept.rootId, library.root],
    keptSeq,
    keptAt: kept.ctime,
    most: MAX_AT_ONCE,
    mostInMemory: MAX_IDS_IN_MEMORY,
  }
  const stale =
    library.fileCount + library.headSeq <= MAX_IN_PROCESS
      ? await findStalePaths(db, input, new TimeSlicer())
      : await db.runInSideProcess<StalePaths>(stalePathsProcess, input, signal)
  const later = { durable: false }
  const origins = idsIn(stale.originKeys).map((id, index) => ({ key: id, seq: stale.originSeqs[index] ?? 0 }))
  const size = new StepSize()
  for (let from = 0; from < origins.length; ) {
    const some = origins.slice(from, from + size.rows)
    await size.run(() => db.write((tx) => deleteOrigins(tx, key, some), later))
    from += some.length
    await dutyCycle.rest()
  }
  const firstSeen = idsIn(stale.firstSeenKeys)
  for (let from = 0; from < firstSeen.length; ) {
    const some = firstSeen.slice(from, from + size.rows)
    await size.run(() => db.write((tx) => deleteFirstSeen(tx, key, some), later))
    from += some.length
    await dutyCycle.rest()
  }
}

/** The options of a mark of one library, with the roots besides its commits. */
export async function markOptions(
  reader: Reader,
  key: number,
  { keptSeq, now }: { readonly keptSeq: number; readonly now: number },
): Promise<MarkOptions> {
  const kept = [
    ...(await listViewRoots(reader, key)),
    ...(await listTicketObjects(reader, key, now)),
    ...(await listTaskRoots(reader, key)),
  ]
  return { libraryKey: key, keptSeq, kept, most: MAX_AT_ONCE, mostInMemory: MAX_IDS_IN_MEMORY }
}

async function findUnreachable(
  { db, now, signal }: GcContext,
  { key, fileCount, headSeq }: LibraryInfo,
  keptSeq: number,
): Promise<Marked | undefined> {
  const options = await markOptions(db, key, { keptSeq, now: now() })
  try {
    if (fileCount + headSeq - keptSeq <= MAX_IN_PROCESS) return await mark(db, options, new TimeSlicer())
    const side = signal ?? new AbortController().signal
    return await db.runInSideProcess<Marked | undefined>(markProcess, options, side)
  } catch (error) {
    // Trees of history that another collector gave up since are deleted from below, so a mark of them finds their roots alone.
    if (await hasCutMore(db, key, keptSeq)) return undefined
    throw error
  }
}

/** Whether another collector has given up more of the history. */
async function hasCutMore(reader: Reader, key: number, keptSeq: number): Promise<boolean> {
  return ((await findCollected(reader, key))?.keptSeq ?? keptSeq) > keptSeq
}

async function apply(
  context: GcContext,
  { key }: LibraryInfo,
  { marked, keptSeq, before }: { readonly marked: Marked; readonly keptSeq: number; readonly before: number },
  figures: Figures,
): Promise<void> {
  const { db, now, dutyCycle, core } = context
  const inSteps = async (ids: Uint8Array, step: (some: Uint8Array[], from: number) => Promise<void>) => {
    const size = new StepSize()
    for (let from = 0; from < ids.length / ID_BYTES; ) {
      const some = idsIn(ids.subarray(from * ID_BYTES, (from + size.rows) * ID_BYTES))
      await size.run(() => step(some, from))
      from += some.length
      await dutyCycle.rest()
    }
  }
  const later = { durable: false }
  /** Releases nothing if another collector has given up more history since. It may have deleted descendants, which writers expect below a released object. */
  const release = (work: (tx: Transaction) => Promise<number>) =>
    db.write(async (tx) => ((await holdCut(tx, key, keptSeq)) ? work(tx) : 0), later)
  await inSteps(marked.released, async (ids) => {
    figures.released.objects += await release((tx) => condemnedObjects.release(tx, key, ids))
  })
  await inSteps(marked.releasedReferences, async (ids) => {
    figures.released.references += await release((tx) => condemnedBlocks.releaseReferences(tx, key, ids))
  })
  await inSteps(marked.unreachable, async (ids, from) => {
    const objects = ids.map((id, index) => ({ id, depth: marked.depths[from + index] ?? 0 }))
    figures.condemned.objects += await db.write(
      (tx) => condemnedObjects.condemn(tx, key, objects, now()),
      later,
    )
  })
  await inSteps(marked.unreachableReferences, async (ids) => {
    figures.condemned.references += await db.write(async (tx) => {
      // A client may have sent a block after the mark had read what was sent. If it were condemned, the push of it would be refused.
      const left = await withoutUncommitted(tx, key, ids)
      return condemnedBlocks.condemnReferences(tx, key, left, now())
    }, later)
  })
  await inSteps(marked.deletable, async (ids) => {
    await rewriteDependents(context, key, ids)
    const { deleted, epoch } = await db.write(async (tx) => {
      const raised = await libraryHeads.raiseObjectsEpoch(tx, key)
      const gone = await condemnedObjects.delete(tx, key, ids, before)
      await deleteViewObjects(tx, key, gone)
      return { deleted: gone, epoch: raised }
    }, later)
    figures.deleted.objects += deleted.length
    const deletedIds = deleted.map((id) => Buffer.from(id).toString('hex'))
    storesOf(core).objects.forget(key, deletedIds)
    storesOf(core).content.forgetFiles(key, deletedIds)
    if (epoch !== undefined) storesOf(core).objects.epochs.advance(key, epoch)
  })
  await inSteps(marked.deletableReferences, async (ids) => {
    const { deleted, epoch } = await db.write(async (tx) => {
      const raised = await libraryHeads.raiseObjectsEpoch(tx, key)
      const gone = await condemnedBlocks.deleteReferences(tx, key, ids, before)
      const goneIds = gone.map(({ id }) => id)
      if (gone.length > 0) await deleteViewObjects(tx, key, goneIds)
      return { deleted: gone, epoch: raised }
    }, later)
    figures.deleted.references += deleted.length
    storesOf(core).content.forgetBlocks(
      key,
      deleted.map(({ id }) => Buffer.from(id).toString('hex')),
    )
    if (epoch !== undefined) storesOf(core).objects.epochs.advance(key, epoch)
    // From now on they wait as blocks of the server, if no other library holds them.
    for (const { size } of deleted) figures.waitingBytes -= size
  })
}

/** Kept dirs that are stored as a delta to one of `ids` become full copies. */
async function rewriteDependents(
  { core, db }: GcContext,
  key: number,
  ids: readonly Uint8Array[],
): Promise<void> {
  for (const dependent of await condemnedObjects.listDependents(db, key, ids)) {
    const stored = await storesOf(core).objects.getDir(
      key,
      Buffer.from(dependent.id).toString('hex') as DirId,
    )
    const whole = await new TimeSlicer().through(prepareWholeDir(stored))
    // The deletion of its base relies on it.
    await db.write((tx) => condemnedObjects.rewriteWhole(tx, key, dependent, whole), {
      durable: 'replicated',
    })
    // The cached dir has the depth of the delta.
    storesOf(core).objects.forget(key, [stored.dir.id])
  }
}

export function idsIn(ids: Uint8Array): Uint8Array[] {
  return Array.from({ length: ids.length / ID_BYTES }, (_, index) =>
    ids.subarray(index * ID_BYTES, (index + 1) * ID_BYTES),
  )
}
