import { DomainError } from '../../base/errors.ts'
import type { RunningOperations } from '../../base/scheduling/index.ts'
import { type Database, leaseEnded, type Transaction } from '../../platform/database/index.ts'
import { insertContents } from '../content/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { libraryHeads } from '../registry/index.ts'
import { type Applied, commitsOf } from './apply-edits.ts'
import { commitRows } from './commit-store.ts'
import { EditConflict, type QueuedEdit } from './edit.ts'
import type { GrowthLimits } from './growth-limits.ts'
import { receivedCommits } from './received-commit-store.ts'

/** How the transaction of a group ended. All but `committed` were rolled back. */
type StoreOutcome =
  | { readonly kind: 'committed' }
  /** Another process moved the head, is about to, or stored the same received commits, after the group was applied. */
  | { readonly kind: 'head-moved' }
  /** `also` of one edit threw. The others can go on without it. */
  | { readonly kind: 'edit-refused'; readonly queued: QueuedEdit; readonly error: Error }
  /** The group as a whole exceeds the quota of the owner. */
  | { readonly kind: 'over-quota'; readonly error: DomainError }

/** Rolls the transaction back with an outcome. Thrown and caught in this file only. */
class Rollback extends Error {
  readonly outcome: StoreOutcome

  constructor(outcome: StoreOutcome) {
    super(outcome.kind)
    this.outcome = outcome
  }
}

interface StoreServices {
  readonly db: Database
  readonly growth: GrowthLimits
  readonly operations: RunningOperations
  /** Whether the caller has the mutex of the library. */
  readonly hasMutex: boolean
}

/**
 * Stores a group in one transaction: the head by compare-and-swap (I2), then objects, commits and the rows of each edit.
 * Resolves when it is committed or rolled back. The callers of the edits are answered once the commit is durable (I4).
 */
export async function storeGroup(
  services: StoreServices,
  before: LibraryInfo,
  after: LibraryInfo,
  applied: readonly Applied[],
): Promise<StoreOutcome> {
  const committed = Promise.withResolvers<void>()
  const durable = services.db.write((tx) => writeGroup(tx, services, before, after, applied), {
    onCommitted: committed.resolve,
  })
  void answerWhenDurable(durable, committed, applied)
  try {
    await committed.promise
    return { kind: 'committed' }
  } catch (error) {
    if (error instanceof Rollback) return error.outcome
    throw error
  }
}

/** Throws Rollback. */
async function writeGroup(
  tx: Transaction,
  { db, growth, operations, hasMutex }: StoreServices,
  before: LibraryInfo,
  after: LibraryInfo,
  applied: readonly Applied[],
): Promise<void> {
  const { key } = before
  // In the work of the transaction: should the lease end after this, the transaction is not committed.
  if (!applied.every(({ queued }) => operations.isKept(queued.operation))) throw leaseEnded()
  const joining = applied.flatMap((one) => one.joining)
  const stored = new Set<string>(joining.map(({ id }) => id))
  const commits = commitsOf(applied).filter(({ id }) => !stored.has(id))
  const objects = applied.flatMap((one) => one.tree?.objects ?? [])
  const contents = applied.flatMap((one) => one.contents)
  const grown = {
    bytes: after.size > before.size,
    entries: applied.some(({ tree }) => tree !== undefined && tree.entries > tree.entriesBefore),
  }
  const guard = grown.bytes || grown.entries ? growth.guard : undefined
  // A node that has waited for the mutex comes first. Otherwise a fast node could move the head before every attempt of the others.
  const passing = hasMutex || tx.mutexIsFree(key)
  // Pipelined, the head first: the rest counts only if the head moved.
  const move = {
    key,
    from: before.head,
    to: after.head,
    seq: after.headSeq,
    root: after.root,
    size: after.size,
    fileCount: after.fileCount,
    at: after.updatedAt,
    modifier: after.modifier,
    modifierViaLink: after.modifierViaLink,
  }
  const moving = libraryHeads.move(tx, move, (owner) => guard?.quotaOf(owner) ?? 'null', db.dialect)
  const inserting = Promise.all([
    insertContents(tx, key, contents, objects),
    commitRows.insert(tx, key, commits),
  ])
  // Awaited below, unless one before them has failed or the head has moved.
  moving.catch(() => {})
  inserting.catch(() => {})
  const isFirst = await passing
  const moved = await moving
  if (moved === undefined || !isFirst) throw new Rollback({ kind: 'head-moved' })
  await inserting
  // The same commits were pushed meanwhile. The edit handles that when it is repeated.
  if (!(await receivedCommits.join(tx, key, joining))) throw new Rollback({ kind: 'head-moved' })
  for (const { also, queued } of applied) {
    try {
      await also?.(tx)
    } catch (error) {
      const isRefusal = error instanceof DomainError || error instanceof EditConflict
      throw isRefusal ? new Rollback({ kind: 'edit-refused', queued, error }) : error
    }
  }
  // Last, because the reservations for these bytes are settled above.
  const limit = moved.quota === null ? undefined : guard?.limitOf(moved.quota)
  try {
    if (limit !== undefined) await guard?.check(tx, { ownerKey: moved.ownerKey, limit }, grown)
  } catch (error) {
    throw error instanceof DomainError ? new Rollback({ kind: 'over-quota', error }) : error
  }
}

async function answerWhenDurable(
  durable: Promise<void>,
  committed: PromiseWithResolvers<void>,
  applied: readonly Applied[],
): Promise<void> {
  try {
    await durable
    committed.resolve()
    for (const { queued, committed } of applied) queued.resolve(committed)
  } catch (error) {
    committed.reject(error)
    const wasCommitted = await committed.promise.then(
      () => true,
      () => false,
    )
    // Committed but not known to be durable: no caller may be told it succeeded. Edits that were never committed
    // are answered by the caller of storeGroup.
    if (wasCommitted) for (const { queued } of applied) queued.reject(error)
  }
}
