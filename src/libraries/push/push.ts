import { DomainError, fail } from '../../base/errors.ts'
import { type Commit, type CommitId, type DirId, EMPTY_ID } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import {
  commitMessages,
  type Edited,
  type NumberedCommit,
  receivedCommits,
  tooManyEntries,
} from '../commits/index.ts'
import { type EditableLibrary, fileLocks } from '../library/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { type Change, countDirs, diffTrees, mergeInto, TooManyChanges } from '../tree/index.ts'
import { insertSubCommit, joinSubCommits } from '../views/index.ts'
import { Admission } from './admission.ts'
import { BoundPathMoves, BoundPathsChanged, type Step } from './bound-path-moves.ts'
import type { PushStores } from './push-stores.ts'
import { findRestorePoint } from './restore-point-store.ts'
import { findReceivedOrVisibleCommit } from './sync-visibility.ts'
import { COMMIT_BYTES, claimOf, settleClaims } from './uncommitted-store.ts'

/** Maximum length of a pushed chain. Clients push each commit as they create it. */
const MAX_CHAIN = 1000

/** Bytes reserved in the owner's quota. */
export interface QuotaReservation extends AsyncDisposable {
  /** Releases the reservation in the transaction of the commit that turns it into usage. */
  settle(tx: Transaction): Promise<void>
}

/**
 * Stores a commit that a client sends before its push. The author is always the actor, and library fields of
 * the commit are dropped, because the library row is authoritative. Throws object-invalid if another commit
 * has this id, quota-exceeded if too much was sent and never pushed.
 */
export async function receiveCommit(
  stores: PushStores,
  library: EditableLibrary,
  sent: Commit,
): Promise<void> {
  const { info, actor } = library
  const commit = { ...sent, creatorName: actor.email, secondParentId: null, conflict: false, newMerge: false }
  const receivedAt = stores.now()
  using _taken = await stores.uncommitted.take(library, 'objects', commit.description.length + COMMIT_BYTES)
  const isNew = await stores.db.write(
    (tx) =>
      info.sub === undefined
        ? receivedCommits.insert(tx, info.key, commit, receivedAt)
        : insertSubCommit(tx, info.sub.key, commit, { receivedAt }),
    // Nothing refers to it before the push, which finds out if it is lost, and makes both durable.
    { durable: false },
  )
  if (isNew) return
  const known = await findReceivedOrVisibleCommit(stores, info, commit.id)
  const adopted = { ...commit, parentId: (await findRestorePoint(stores.db, info.key)) ?? commit.parentId }
  const isSame = known !== undefined && [commit, adopted].some((one) => isSameCommit(known.commit, one))
  if (!isSame) {
    fail({ code: 'object-invalid', reason: 'another commit has this id' })
  }
}

// The time is ignored: the history may have corrected it.
function isSameCommit(a: Commit, b: Commit): boolean {
  const fields = ['rootId', 'parentId', 'creator', 'creatorName', 'description'] as const
  return fields.every((field) => a[field] === b[field])
}

/**
 * Makes a received commit part of the history: the head fast-forwards to it, or it is merged into the head.
 * All objects it refers to must be stored. Idempotent: a commit that is already part of the history changes
 * nothing, so a client may repeat a push whose response was lost. `reserve` reserves the bytes the push adds.
 * Throws commit-not-found, object-missing, object-invalid, blocks-missing, client-ahead, locked, and what `reserve` throws;
 * the head is then unchanged.
 */
export async function push(
  stores: PushStores,
  library: EditableLibrary,
  id: CommitId,
  reserve: (bytes: number) => Promise<QuotaReservation>,
): Promise<void> {
  await adoptOrphan(stores, library.info, id)
  try {
    await pushAdopted(stores, library, id, reserve)
  } catch (error) {
    // Clients send only what differs from their last push, which the restore may have lost.
    const isIncomplete = error instanceof DomainError && INCOMPLETE.has(error.fault.code)
    if (isIncomplete) await refuseIfRestored(stores, library.info)
    throw error
  }
}

/** Faults of a push that refers to objects or blocks that the server does not have. */
const INCOMPLETE: ReadonlySet<string> = new Set(['object-missing', 'blocks-missing'])

/**
 * Throws client-ahead if the library was restored from a backup: what a client refers to and the server does not have may be what the restore
 * lost. The client must not download, because it would delete its own copy.
 */
export async function refuseIfRestored(stores: PushStores, { key }: LibraryInfo): Promise<void> {
  if ((await findRestorePoint(stores.db, key)) !== undefined) fail({ code: 'client-ahead' })
}

async function pushAdopted(
  stores: PushStores,
  library: EditableLibrary,
  id: CommitId,
  reserve: (bytes: number) => Promise<QuotaReservation>,
): Promise<void> {
  const found = await findChain(stores, library.info, id)
  if (found === undefined) return
  const { chain, tip, base } = found
  const admission = new Admission(stores, library.info)
  const steps: Step[] = []
  let before = base.rootId
  let unaccounted = 0
  for (const { id: commitId, rootId } of chain) {
    unaccounted += (await admission.admit(rootId, before, claimOf(commitId))).unaccounted
    await refuseTooMany(stores, library.info, before, rootId)
    steps.push({ before, changes: await pushedChanges(stores, library.info, before, rootId) })
    before = rootId
  }
  await using reservation = await reserve(unaccounted + (await growthOf(stores, library.info, base, tip)))
  for (;;) {
    try {
      await commitPushed(stores, library, { ...found, steps, reservation })
      return
    } catch (error) {
      if (!(error instanceof BoundPathsChanged)) throw error
    }
  }
}

/** A chain of commits whose trees are completely stored. */
interface Pushed extends Chain {
  readonly steps: readonly Step[]
  readonly reservation: QuotaReservation
}

/** Throws BoundPathsChanged. */
async function commitPushed(
  stores: PushStores,
  library: EditableLibrary,
  { chain, tip, base, steps, reservation }: Pushed,
): Promise<void> {
  const claims = chain.map(({ id }) => claimOf(id))
  const [only] = steps.length === 1 ? steps : []
  const changes = only?.changes ?? (await pushedChanges(stores, library.info, base.rootId, tip.rootId))
  const { commit, result } = await library.commit(async (tree, now): Promise<Edited<readonly CommitId[]>> => {
    // Another push may have stored part of the chain: a client repeats a push whose connection broke.
    const left = now.head === tip.id ? undefined : await findChain(stores, now, tip.id)
    if (left === undefined) return { description: '', result: [] }
    await fileLocks.refuse(stores.core, library, touchedPaths(changes))
    const boundMoves = await BoundPathMoves.read(stores, now, steps.slice(-left.chain.length), tree)
    const root = await tree.rootId()
    const isMerge = now.sub === undefined ? now.head !== left.base.id : root !== left.base.rootId
    const ids = left.chain.map(({ id }) => id)
    const also = async () => {
      const write = await boundMoves.settle(tree, { isMerge })
      return async (tx: Transaction) => {
        await write(tx)
        if (now.sub !== undefined) await joinSubCommits(tx, now.sub.key, ids, now.headSeq + 1)
        await settleClaims(tx, now.key, claims)
        await reservation.settle(tx)
      }
    }
    if (!isMerge) {
      await tree.replaceRoot(tip.rootId)
      const received = { chain: left.chain }
      const more = now.sub === undefined ? { received } : {}
      return { description: tip.description, result: ids, ...more, also: await also() }
    }
    const author = tip.creatorName ?? ''
    const sides = { base: left.base.rootId, head: root, remote: tip.rootId, author }
    const conflicts = await mergeInto(tree, sides)
    const conflict = conflicts.length > 0
    return {
      description: conflict ? commitMessages.conflicts(conflicts) : commitMessages.merged,
      result: ids,
      // Commits of a sub-library are not commits of its origin.
      ...(now.sub === undefined && { received: { chain: left.chain, merge: { conflict } } }),
      also: await also(),
    }
  })
  // The folder already had this content, so the origin has no commit for it.
  const { sub, headSeq } = library.info
  if (sub !== undefined && commit === undefined && result.length > 0) {
    await stores.db.write(async (tx) => {
      await joinSubCommits(tx, sub.key, result, headSeq)
      await settleClaims(tx, library.info.key, claims)
    })
  }
}

/**
 * After a restore from a backup, clients still push commits on top of commits that were lost. All of those descend from the head that was restored,
 * so it is the common ancestor: it becomes the parent of the oldest commit that was sent.
 */
async function adoptOrphan(stores: PushStores, library: LibraryInfo, id: CommitId): Promise<void> {
  if (library.sub !== undefined) return
  const restored = await findRestorePoint(stores.db, library.key)
  if (restored === undefined) return
  let next = id
  for (let length = 0; length < MAX_CHAIN; length++) {
    const found = await receivedCommits.find(stores.db, library, next)
    const parent = found === undefined || found.joined ? null : found.commit.parentId
    if (parent === null) return
    if ((await receivedCommits.find(stores.db, library, parent)) === undefined) {
      const orphan = next
      await stores.db.write((tx) => receivedCommits.setParent(tx, library.key, orphan, restored), {
        durable: 'replicated',
      })
      return
    }
    next = parent
  }
}

interface Chain {
  /** Oldest first. */
  readonly chain: readonly Commit[]
  readonly tip: Commit
  /** The parent of the first commit of the chain. It is part of the history, unless that was given up. */
  readonly base: Pick<NumberedCommit, 'rootId'> & { readonly id: CommitId | undefined }
}

const lostBase: Chain['base'] = { id: undefined, rootId: EMPTY_ID }

/**
 * The commits between the history and `id`, which is the last of them; undefined if `id` is part of the
 * history.
 */
async function findChain(stores: PushStores, library: LibraryInfo, id: CommitId): Promise<Chain | undefined> {
  const chain: Commit[] = []
  for (let next: CommitId | null = id; next !== null; ) {
    const found = await findReceivedOrVisibleCommit(stores, library, next)
    if (found === undefined) {
      if (next === id) return fail({ code: 'commit-not-found', id })
      const tip = chain[0]
      // Its history was given up meanwhile. Merged with nothing as the base, neither side loses anything.
      if (tip !== undefined && library.validSinceSeq > 1)
        return { chain: chain.toReversed(), tip, base: lostBase }
      await refuseIfRestored(stores, library)
      return fail({ code: 'object-invalid', reason: 'its parent is not here' })
    }
    const { commit, joined } = found
    const tip = chain[0]
    if (joined) return tip && { chain: chain.toReversed(), tip, base: commit }
    if (chain.length === MAX_CHAIN) fail({ code: 'object-invalid', reason: 'too many commits at once' })
    chain.push(commit)
    next = commit.parentId
  }
  return fail({ code: 'object-invalid', reason: 'it has no parent' })
}

/**
 * Throws too-many-entries. Checked before trees are compared, because a few dirs that refer to each other can
 * expand to any number of paths. The library as a whole is checked where its head moves.
 */
async function refuseTooMany(
  { objects, growth }: PushStores,
  { key }: LibraryInfo,
  before: DirId,
  after: DirId,
): Promise<void> {
  const entries = async (id: DirId) => {
    const { fileCount, dirCount } = await objects.getDir(key, id)
    return fileCount + (dirCount ?? (await countDirs(objects, key, id)))
  }
  const fault = growth.refusalOf({ entriesBefore: await entries(before), entries: await entries(after) })
  if (fault !== undefined) fail(fault)
}

/** The changes of one received commit. Throws too-many-entries. */
async function pushedChanges(
  { objects, growth }: PushStores,
  { key }: LibraryInfo,
  before: DirId,
  after: DirId,
): Promise<Change[]> {
  const most = growth.limits.commit
  try {
    return await diffTrees(objects, key, before, after, { most })
  } catch (error) {
    if (error instanceof TooManyChanges) return fail(tooManyEntries(most ?? 0, 'commit'))
    throw error
  }
}

async function growthOf(
  stores: PushStores,
  library: LibraryInfo,
  base: Chain['base'],
  tip: Commit,
): Promise<number> {
  const [before, after] = await Promise.all([
    stores.objects.getDir(library.key, base.rootId),
    stores.objects.getDir(library.key, tip.rootId),
  ])
  return after.size - before.size
}

function touchedPaths(changes: readonly Change[]): LibraryPath[] {
  return changes.flatMap((change) =>
    change.op === 'renamed' ? [change.path, change.newPath] : [change.path],
  )
}
