import { DomainError, fail } from '../../base/errors.ts'
import type { LibraryId } from '../../base/objects/index.ts'
import type { RunningOperations } from '../../base/scheduling/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { libraryRows } from '../registry/index.ts'
import { type ObjectStore, PendingDirs, type TreeChanges } from '../tree/index.ts'
import { type Applied, applyEdits, commitsOf } from './apply-edits.ts'
import type { CommitStatistics } from './commit-statistics.ts'
import type { Contention } from './contention.ts'
import type { QueuedEdit } from './edit.ts'
import type { GrowthLimits } from './growth-limits.ts'
import type { RecentCommits } from './recent-commits.ts'
import { storeGroup } from './store-group.ts'

/** Bounds the duration of one transaction. */
export const LARGEST_GROUP = 128

export interface WriterServices {
  readonly db: Database
  readonly objects: ObjectStore
  readonly changes: TreeChanges
  readonly recentCommits: RecentCommits
  readonly growth: GrowthLimits
  readonly contention: Contention
  readonly statistics: CommitStatistics
  readonly operations: RunningOperations
  /** Unix seconds. */
  readonly now: () => number
  /** Called after a head moved, with the library after and before. */
  readonly onCommitted: (library: LibraryInfo, before: LibraryInfo) => void
}

/** Which library a group is for. */
export interface LibraryRef {
  readonly key: number
  readonly id: LibraryId
}

/** The edits of a library that wait to be committed. */
export interface EditSource {
  /** The next group, of at most this many edits. */
  take(most: number): QueuedEdit[]
  /** Returns edits to the head of the queue. */
  putBack(left: readonly QueuedEdit[]): void
}

/**
 * Commits a group of edits in one transaction. If another node moved the head meanwhile, the edits are applied to the new head at
 * once (I5), under the mutex of the library: nodes that write to one library take turns, so that no edit is applied in vain again.
 * The mutex comes before the group is taken: edits that arrive while the node waits for its turn are in it, and the turn serves all of them.
 * Resolves to the library once the group is committed; callers are answered when it is durable. If it throws, the caller rejects the
 * edits that were taken and not put back. `known` is the library as the last group left it.
 */
export async function commitGroup(
  services: WriterServices,
  library: LibraryRef,
  source: EditSource,
  known: LibraryInfo | undefined,
): Promise<LibraryInfo> {
  const { contention, db } = services
  const putBack: PutBack = (left) => source.putBack(left)
  let open: readonly QueuedEdit[] = []
  if (!contention.isExpected(library.key)) {
    open = source.take(LARGEST_GROUP)
    const attempt = await tryCommit({ ...services, hasMutex: false }, library, open, known, putBack)
    if (attempt.outcome === 'done') return attempt.library
    open = attempt.open
    contention.noteConflict(library.key)
  }
  return db.withMutex(library.key, async () => {
    open = [...open, ...source.take(LARGEST_GROUP - open.length)]
    for (;;) {
      const current = await findCurrent(db, library)
      contention.noteHead(library.key, current.head)
      const attempt = await tryCommit({ ...services, hasMutex: true }, library, open, current, putBack)
      if (attempt.outcome === 'done') {
        contention.noteOwnHead(library.key, attempt.library.head)
        return attempt.library
      }
      // The mutex was lost, or waited for in vain.
      open = attempt.open
    }
  })
}

type PutBack = (left: readonly QueuedEdit[]) => void

type Attempt =
  | { readonly outcome: 'done'; readonly library: LibraryInfo }
  /** Nothing was committed. `open` are the edits to apply again. */
  | { readonly outcome: 'head-moved'; readonly open: readonly QueuedEdit[] }

/** Applies and commits the edits of a group that are neither put back nor refused, unless the head has moved. */
async function tryCommit(
  services: WriterServices & { readonly hasMutex: boolean },
  library: LibraryRef,
  group: readonly QueuedEdit[],
  known: LibraryInfo | undefined,
  putBack: PutBack,
): Promise<Attempt> {
  const start = known ?? (await findCurrent(services.db, library))
  let open = group
  let shares = true
  for (;;) {
    const pending = new PendingDirs()
    const { applied, left, failed, refused } = await applyEdits(start, open, { ...services, pending, shares })
    services.statistics.applied += applied.length
    if (refused !== undefined) {
      // Repeated without the edit: its dirs are not stored, so nothing may refer to them.
      const [first, ...others] = refused.edits
      if (others.length > 0) shares = false
      else first?.reject(new DomainError(refused.fault))
      open = open.filter((one) => !failed.has(one) && (one !== first || others.length > 0))
      continue
    }
    putBack(left)
    open = applied.map((one) => one.queued)
    const last = applied.at(-1)
    if (last === undefined) return { outcome: 'done', library: start }
    if (applied.every((one) => one.committed.commit === undefined)) {
      services.statistics.committed += applied.length
      void answerUnchanged(services.db, applied)
      return { outcome: 'done', library: start }
    }
    const after = last.committed.library
    const stored = await storeGroup(services, start, after, applied)
    switch (stored.kind) {
      case 'committed':
        services.statistics.committed += applied.length
        services.statistics.groups += 1
        updateCaches(services, library, applied, pending)
        services.onCommitted(after, start)
        return { outcome: 'done', library: after }
      case 'head-moved':
        return { outcome: 'head-moved', open }
      case 'edit-refused':
        stored.queued.reject(stored.error)
        open = open.filter((queued) => queued !== stored.queued)
        break
      case 'over-quota': {
        // Which edits fit is found by halving the group.
        if (open.length === 1) {
          open[0]?.reject(stored.error)
          return { outcome: 'done', library: start }
        }
        const half = Math.ceil(open.length / 2)
        putBack(open.slice(half))
        open = open.slice(0, half)
      }
    }
  }
}

/** Answers edits that changed nothing, once the state they found is durable (I4). The next group does not wait for that. */
async function answerUnchanged(db: Database, applied: readonly Applied[]): Promise<void> {
  try {
    await db.flushed()
    for (const { queued, committed } of applied) queued.resolve(committed)
  } catch (error) {
    for (const { queued } of applied) queued.reject(error)
  }
}

function updateCaches(
  { objects, changes, recentCommits }: WriterServices,
  { key }: LibraryRef,
  applied: readonly Applied[],
  pending: PendingDirs,
): void {
  for (const stored of pending.latest()) objects.cacheDir(key, stored)
  for (const { tree } of applied) {
    if (tree?.changes) changes.put(key, tree.before, tree.root, tree.changes)
  }
  if (applied.every((one) => one.joining.length === 0)) recentCommits.add(key, commitsOf(applied))
}

export async function findCurrent(db: Database, { key, id }: LibraryRef): Promise<LibraryInfo> {
  const found = await libraryRows.find(db, id)
  return found?.key === key ? found : fail({ code: 'library-not-found', id })
}
