import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Content, insertContents } from '../content/index.ts'
import type { Database, Transaction } from '../database/index.ts'
import { DomainError, type Fault, fail } from '../errors.ts'
import {
  type Commit,
  type CommitId,
  type DirId,
  EMPTY_ID,
  type LibraryId,
  newCommitId,
} from '../objects/index.ts'
import { batchSettled } from '../scheduling/index.ts'
import {
  type EditedTree,
  insertObjects,
  type ObjectStore,
  PendingDirs,
  type TreeChanges,
  WorkingTree,
} from '../tree/index.ts'
import { describeUploaded } from './commit-messages.ts'
import { insertCommits, type JoiningCommit, joinCommits, type NumberedCommit } from './commit-store.ts'
import type { GrowthLimits } from './growth-limits.ts'
import type { LibraryInfo } from './library-info.ts'
import { findLibrary, moveHead } from './library-store.ts'
import { randomBytesOfId } from './random-id.ts'
import type { RecentCommits } from './recent-commits.ts'

/** What an edit did: a commit is made, unless nothing changed and `always` is not set. */
export interface Edited<T> {
  /** The commit's text, in the exact patterns clients and users know. */
  readonly description: string
  readonly result: T
  /** A commit is made even if the tree stays as it is (a rename of the library). */
  readonly always?: boolean
  /** Rows that must agree with the new head, written in its transaction (I2). A fault thrown here fails this edit alone. */
  readonly also?: (tx: Transaction) => Promise<void>
  /** Names of the files an upload added or replaced: uploads that share a commit are described by all of them. */
  readonly uploaded?: readonly string[]
  /** The contents of new files; those of a whole group are written together (I1). */
  readonly contents?: readonly Content[]
  /** Commits a client made: they join the history in place of one made here, or together with the merge of them. */
  readonly received?: ReceivedCommits
  /** What `also` changes of the library itself, for the edits after this one. */
  readonly library?: Partial<Pick<LibraryInfo, 'name' | 'description' | 'encryption'>>
}

/** Commits that came in ahead, stored but part of no history. */
export interface ReceivedCommits {
  /** At least one, oldest first, each the parent of the next. */
  readonly chain: readonly Commit[]
  /** Set where the head had moved on: the tree of the edit is a merge, and `conflict` if it kept two versions of something. */
  readonly merge?: { readonly conflict: boolean }
}

/** A change to a library: a function from tree to tree. It may run again, on a newer head. */
export interface Edit<T> {
  /** The account that makes it, as the commit will say. */
  readonly author: string
  /**
   * An upload: it may share a commit with uploads of the same author that wait at the same moment.
   * Its `apply` must not have changed the tree when it throws.
   */
  readonly isUpload?: boolean
  apply(tree: WorkingTree, library: LibraryInfo): Promise<Edited<T>>
}

/** What came of an edit. */
export interface Committed<T> {
  readonly result: T
  /** The library as this edit left it; of a sub-library: the one that has its folder. */
  readonly library: LibraryInfo
  /** The library as this edit found it. */
  readonly before: LibraryInfo
  /** Undefined if nothing had to change. */
  readonly commit: NumberedCommit | undefined
}

interface Waiting {
  readonly edit: Edit<unknown>
  resolve(committed: Committed<unknown>): void
  reject(error: unknown): void
}

/** An edit of a group that succeeded so far, and how its caller will be answered. */
interface Applied {
  readonly waiting: Waiting
  readonly committed: Committed<unknown>
  /** What came of the tree, with the first of those who share it. */
  readonly tree: EditedTree | undefined
  readonly contents: readonly Content[]
  /** Commits already stored that become part of the history. */
  readonly joining: readonly JoiningCommit[]
  readonly also: ((tx: Transaction) => Promise<void>) | undefined
}

/** What came of applying a group. */
interface AppliedGroup {
  readonly applied: Applied[]
  /** Those it did not come to. */
  readonly left: Waiting[]
  /** Those that threw, and were told so. */
  readonly failed: ReadonlySet<Waiting>
  /** The edits of one commit that may not be; then nothing was applied. */
  readonly refused: { readonly edits: readonly Waiting[]; readonly fault: Fault } | undefined
}

// Bounds the time one transaction takes and the memory of the dirs waiting for it.
const LARGEST_GROUP = 128
const HEAVIEST_GROUP_BYTES = 32 * 2 ** 20
const LONGEST_TURN_MS = 4

/** Another process moved the head between our look and our transaction. */
class HeadMoved extends Error {}

/** One edit of a group was refused inside the transaction; the others are to go on without it. */
class EditRefused extends Error {
  readonly waiting: Waiting
  constructor(waiting: Waiting, cause: DomainError) {
    super('edit refused', { cause })
    this.waiting = waiting
  }
}

/** The group would store more than the owner may; which of its edits may stay is found out by trying fewer. */
class GroupRefused extends Error {}

/**
 * The one way a head moves. Edits of one library queue here and are committed in groups: all
 * that wait are applied in order, each failing alone, and go in one transaction with one sync;
 * then every waiter is answered. If another process moved the head first, the edits are applied
 * to the new head, at once (I5). The next group is prepared while the last one reaches the disk.
 */
export class Writers {
  readonly #db: Database
  readonly #objects: ObjectStore
  readonly #changes: TreeChanges
  readonly #recentCommits: RecentCommits
  readonly #growth: GrowthLimits
  readonly #now: () => number
  readonly #onCommitted: (library: LibraryInfo, before: LibraryInfo) => void
  readonly #queues = new Map<number, Waiting[]>()
  readonly #draining = new Set<Promise<void>>()

  constructor(
    db: Database,
    objects: ObjectStore,
    changes: TreeChanges,
    recentCommits: RecentCommits,
    growth: GrowthLimits,
    now: () => number,
    onCommitted: (library: LibraryInfo, before: LibraryInfo) => void = () => {},
  ) {
    this.#db = db
    this.#objects = objects
    this.#changes = changes
    this.#recentCommits = recentCommits
    this.#growth = growth
    this.#now = now
    this.#onCommitted = onCommitted
  }

  /** Resolves once the commit would survive a power cut (I4). Throws what the edit throws. */
  commit<T>(library: { key: number; id: LibraryId }, edit: Edit<T>): Promise<Committed<T>> {
    return new Promise<Committed<T>>((resolve, reject) => {
      const waiting: Waiting = { edit, resolve: resolve as Waiting['resolve'], reject }
      const queue = this.#queues.get(library.key)
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      const started = [waiting]
      this.#queues.set(library.key, started)
      const draining = this.#drain(library, started).finally(() => this.#draining.delete(draining))
      this.#draining.add(draining)
    })
  }

  /** Resolves when no edit is waiting or under way. */
  async idle(): Promise<void> {
    while (this.#draining.size > 0) await Promise.all(this.#draining)
  }

  async #drain(library: { key: number; id: LibraryId }, queue: Waiting[]): Promise<void> {
    let known: LibraryInfo | undefined
    while (queue.length > 0) {
      await batchSettled(queue, LARGEST_GROUP)
      const group = queue.splice(0, LARGEST_GROUP)
      try {
        known = await this.#commitGroup(library, group, known, (left) => queue.unshift(...left))
      } catch (error) {
        for (const waiting of group) waiting.reject(error)
        known = undefined
      }
      // Whoever comes in this turn finds the queue, and what is known of the library.
      if (queue.length === 0) await nextTurn()
    }
    this.#queues.delete(library.key)
  }

  /** Resolves once the group is committed; its waiters are answered when it is durable. */
  async #commitGroup(
    library: { key: number; id: LibraryId },
    group: readonly Waiting[],
    known: LibraryInfo | undefined,
    putBack: (left: readonly Waiting[]) => void,
  ): Promise<LibraryInfo> {
    let open = group
    let start = known
    let shares = true
    for (;;) {
      start ??= await this.#find(library)
      const pending = new PendingDirs()
      const { applied, left, failed, refused } = await this.#apply(start, open, pending, shares)
      if (refused !== undefined) {
        // Begun anew without it: dirs of a refused edit are not stored, so nothing may refer to them.
        const [first, ...others] = refused.edits
        if (others.length > 0) shares = false
        else first?.reject(new DomainError(refused.fault))
        open = open.filter((one) => !failed.has(one) && (one !== first || others.length > 0))
        continue
      }
      putBack(left)
      open = applied.map((one) => one.waiting)
      const last = applied.at(-1)
      if (last === undefined) return start
      if (applied.every((one) => one.committed.commit === undefined)) {
        for (const { waiting, committed } of applied) waiting.resolve(committed)
        return start
      }
      try {
        await this.#store(start, last.committed.library, applied)
      } catch (error) {
        if (error instanceof HeadMoved) {
          start = undefined
          continue
        }
        if (error instanceof GroupRefused) {
          if (open.length === 1) throw error.cause
          const half = Math.ceil(open.length / 2)
          putBack(open.slice(half))
          open = open.slice(0, half)
          continue
        }
        if (!(error instanceof EditRefused)) throw error
        error.waiting.reject(error.cause)
        open = open.filter((waiting) => waiting !== error.waiting)
        continue
      }
      for (const stored of pending.latest()) this.#objects.remember(library.key, stored)
      for (const { tree } of applied) {
        if (tree?.changes) this.#changes.remember(library.key, tree.before, tree.root, tree.changes)
      }
      if (applied.every((one) => one.joining.length === 0)) {
        this.#recentCommits.remember(library.key, commitsOf(applied))
      }
      this.#onCommitted(last.committed.library, start)
      return last.committed.library
    }
  }

  /** By its id, as whoever opened it a moment ago did: the row may be at hand. */
  async #find({ key, id }: { key: number; id: LibraryId }): Promise<LibraryInfo> {
    const found = await findLibrary(this.#db, id)
    return found?.key === key ? found : fail({ code: 'library-not-found', id })
  }

  /** Applies edits in order, until the dirs they make get too heavy. Those of uploads may share commits. */
  async #apply(
    start: LibraryInfo,
    group: readonly Waiting[],
    pending: PendingDirs,
    shares: boolean,
  ): Promise<AppliedGroup> {
    const source = { objects: this.#objects, libraryKey: start.key, pending }
    const applied: Applied[] = []
    let library = start
    let turnBegan = performance.now()
    const failed = new Set<Waiting>()
    const open = shares ? shareCommits(group) : group.map((waiting) => [waiting])
    for (let sharing = open.shift(); sharing !== undefined; sharing = open.shift()) {
      // Times of one library's commits never run backwards, whatever the clock does.
      const now = Math.max(this.#now(), library.updatedAt)
      const tree = await WorkingTree.open(source, library.root, now)
      const done: Done[] = []
      for (const waiting of sharing) {
        try {
          done.push({ waiting, edited: await waiting.edit.apply(tree, library) })
        } catch (error) {
          failed.add(waiting)
          waiting.reject(error)
        }
      }
      const edited = done.length > 0 ? await tree.finish() : undefined
      const fault = edited && this.#growth.refusalOf(edited)
      if (fault !== undefined) {
        const refused = { edits: done.map(({ waiting }) => waiting), fault }
        return { applied: [], left: [], failed, refused }
      }
      const outcome = describeOutcome(done, library, edited, now)
      applied.push(...outcome)
      library = outcome.at(-1)?.committed.library ?? library
      // Whoever pushes next has to see which commits are part of the history by then.
      if (outcome.some(({ joining }) => joining.length > 0)) break
      if (pending.weight > HEAVIEST_GROUP_BYTES) break
      if (performance.now() - turnBegan > LONGEST_TURN_MS) {
        await nextTurn()
        turnBegan = performance.now()
      }
    }
    return { applied, left: open.flat(), failed, refused: undefined }
  }

  /** Resolves when committed; answers the waiters when durable. Throws HeadMoved, EditRefused. */
  #store(before: LibraryInfo, after: LibraryInfo, applied: readonly Applied[]): Promise<void> {
    const committed = Promise.withResolvers<void>()
    const joining = applied.flatMap((one) => one.joining)
    const stored = new Set<string>(joining.map(({ id }) => id))
    const commits = commitsOf(applied).filter(({ id }) => !stored.has(id))
    const objects = applied.flatMap((one) => one.tree?.objects ?? [])
    const contents = applied.flatMap((one) => one.contents)
    const guard = after.size > before.size ? this.#growth.guard : undefined
    const durable = this.#db.write(
      async (tx) => {
        // Sent together, the head first: what follows counts only if it moved.
        const moving = moveHead(tx, {
          key: before.key,
          from: before.head,
          to: after.head,
          seq: after.headSeq,
          root: after.root,
          size: after.size,
          fileCount: after.fileCount,
          at: after.updatedAt,
          modifier: after.modifier,
        })
        const inserting = Promise.all([
          contents.length > 0 && insertContents(tx, before.key, contents),
          insertObjects(tx, before.key, objects),
          insertCommits(tx, before.key, commits),
        ])
        const limiting = guard?.limitedOwner(tx, before.key)
        inserting.catch(() => {}) // Awaited below, unless the head has moved.
        limiting?.catch(() => {})
        if (!(await moving)) throw new HeadMoved()
        await inserting
        // Somebody pushed the same commits a moment ago: the edit finds out when it runs again.
        if (!(await joinCommits(tx, before.key, joining))) throw new HeadMoved()
        for (const { also, waiting } of applied) {
          if (also !== undefined) await runAlso(tx, also, waiting)
        }
        // Last, because what was set aside for these bytes is given back above.
        const limited = await limiting
        if (limited !== undefined) await refuseGroup(() => guard?.check(tx, limited))
      },
      { onCommitted: committed.resolve },
    )
    void answerWhenDurable(durable, committed, applied)
    return committed.promise
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
    for (const { waiting, committed } of applied) waiting.resolve(committed)
  } catch (error) {
    committed.reject(error)
    const wasCommitted = await committed.promise.then(
      () => true,
      () => false,
    )
    // Committed but not known to be durable: nobody may be told it succeeded. What was never
    // committed is answered by whoever waits for the commit.
    if (wasCommitted) for (const { waiting } of applied) waiting.reject(error)
  }
}

/** An edit that was applied to its tree. */
interface Done {
  readonly waiting: Waiting
  readonly edited: Edited<unknown>
}

/** Those that edits of a group share once. */
function commitsOf(applied: readonly Applied[]): NumberedCommit[] {
  return [...new Set(applied.flatMap((one) => one.committed.commit ?? []))]
}

/** The edits of a group in order; uploads of one author in a row go together. */
function shareCommits(group: readonly Waiting[]): Waiting[][] {
  const sharing: Waiting[][] = []
  for (const waiting of group) {
    const before = sharing.at(-1)
    const first = before?.[0]?.edit
    const joins =
      first?.isUpload === true && waiting.edit.isUpload === true && first.author === waiting.edit.author
    if (before !== undefined && joins) before.push(waiting)
    else sharing.push([waiting])
  }
  return sharing
}

/** One commit for all that was done to a tree, or none if it stayed as it was. */
function describeOutcome(
  done: readonly Done[],
  before: LibraryInfo,
  tree: EditedTree | undefined,
  now: number,
): Applied[] {
  const [first] = done
  if (first === undefined) return []
  const { received } = first.edited
  if (tree === undefined && received === undefined && !done.some(({ edited }) => edited.always)) {
    return done.map(({ waiting, edited }) => ({
      waiting,
      committed: { result: edited.result, library: before, before, commit: undefined },
      tree: undefined,
      contents: [],
      joining: [],
      also: undefined,
    }))
  }
  const uploaded = done.flatMap(({ edited }) => edited.uploaded ?? [])
  const description = done.length === 1 ? first.edited.description : describeUploaded(uploaded)
  const root = tree?.root ?? before.root
  const { commit, joining } =
    received === undefined
      ? { commit: newCommit(before, root, first.waiting.edit.author, description, now), joining: [] }
      : join(before, root, received, description, now)
  const library: LibraryInfo = {
    ...before,
    ...first.edited.library,
    head: commit.id,
    headSeq: commit.seq,
    root: commit.rootId,
    size: tree?.size ?? before.size,
    fileCount: tree?.fileCount ?? before.fileCount,
    updatedAt: commit.ctime,
    modifier: commit.creatorName ?? first.waiting.edit.author,
  }
  return done.map(({ waiting, edited }, index) => ({
    waiting,
    committed: { result: edited.result, library, before, commit },
    tree: index === 0 ? tree : undefined,
    contents: edited.contents ?? [],
    joining: index === 0 ? joining : [],
    also: edited.also,
  }))
}

/**
 * The head that received commits lead to: the last of them, or the merge of it with the head before. A client's
 * clock may be wrong; its times are kept between those of the head before and of now, so that times never run backwards.
 */
function join(
  before: LibraryInfo,
  root: DirId,
  { chain, merge }: ReceivedCommits,
  description: string,
  now: number,
): { commit: NumberedCommit; joining: JoiningCommit[] } {
  const tip = chain.at(-1)
  if (tip === undefined) throw new Error('no commit was received')
  if (merge !== undefined) {
    const made = newCommit(before, root, tip.creatorName ?? '', description, now, tip.id)
    const seq = made.seq
    const joining = chain.map(({ id, ctime }) => ({ id, seq, isMerged: true, ctime: Math.min(ctime, now) }))
    return { commit: { ...made, conflict: merge.conflict, newMerge: true }, joining }
  }
  let ctime = before.updatedAt
  const joining = chain.map((one, index) => {
    ctime = Math.min(Math.max(one.ctime, ctime), now)
    return { id: one.id, seq: before.headSeq + 1 + index, isMerged: false, ctime }
  })
  return { commit: { ...tip, ctime, seq: before.headSeq + chain.length }, joining }
}

function newCommit(
  before: LibraryInfo,
  rootId: DirId,
  author: string,
  description: string,
  now: number,
  secondParentId: CommitId | null = null,
): NumberedCommit {
  const content = {
    libraryId: before.id,
    rootId,
    parentId: before.head,
    secondParentId,
    creator: EMPTY_ID,
    creatorName: author,
    description,
    ctime: now,
  }
  return {
    ...content,
    id: newCommitId(content, randomBytesOfId()),
    seq: before.headSeq + 1,
    deviceName: undefined,
    clientVersion: undefined,
    conflict: false,
    newMerge: false,
  }
}

async function refuseGroup(check: () => Promise<void> | undefined): Promise<void> {
  try {
    await check()
  } catch (error) {
    throw error instanceof DomainError ? new GroupRefused('over quota', { cause: error }) : error
  }
}

async function runAlso(
  tx: Transaction,
  also: (tx: Transaction) => Promise<void>,
  waiting: Waiting,
): Promise<void> {
  try {
    await also(tx)
  } catch (error) {
    throw error instanceof DomainError ? new EditRefused(waiting, error) : error
  }
}
