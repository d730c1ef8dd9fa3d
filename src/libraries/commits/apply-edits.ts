import { randomFillSync } from 'node:crypto'
import { setImmediate as nextTick } from 'node:timers/promises'
import type { Fault } from '../../base/errors.ts'
import { type CommitId, type DirId, EMPTY_ID, newCommitId } from '../../base/objects/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { Content } from '../content/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { type EditedTree, type ObjectStore, type PendingDirs, WorkingTree } from '../tree/index.ts'
import { commitMessages } from './commit-messages.ts'
import type { NumberedCommit } from './commit-store.ts'
import type { Committed, Edit, Edited, QueuedEdit, ReceivedCommits } from './edit.ts'
import type { GrowthLimits } from './growth-limits.ts'
import type { JoiningCommit } from './received-commit-store.ts'

const ID_BYTES = 20
const IDS_AT_ONCE = 128

const drawn = Buffer.alloc(ID_BYTES * IDS_AT_ONCE)
let used = drawn.length

/** Random bytes for an id, generated in batches. The result is valid until the next call. */
function randomBytesOfId(): Uint8Array {
  if (used === drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += ID_BYTES
  return drawn.subarray(used - ID_BYTES, used)
}

// Bounds the memory for the dirs of one group, and the time without a yield.
const HEAVIEST_GROUP_BYTES = 32 * 2 ** 20
const SLICE_MS = 4

/** An applied edit, with its result for the caller. */
export interface Applied {
  readonly queued: QueuedEdit
  readonly committed: Committed<unknown>
  /** The edited tree, with the first of the edits that share it. */
  readonly tree: EditedTree | undefined
  readonly contents: readonly Content[]
  /** Commits already stored that become part of the history. */
  readonly joining: readonly JoiningCommit[]
  readonly also: ((tx: Transaction) => Promise<void>) | undefined
}

/** The result of applying a group. */
interface AppliedGroup {
  readonly applied: readonly Applied[]
  /** Edits that were not reached. */
  readonly left: readonly QueuedEdit[]
  /** Edits that threw. Their callers are answered. */
  readonly failed: ReadonlySet<QueuedEdit>
  /** The edits of one commit that exceeds the growth limits. Then nothing was applied. */
  readonly refused: { readonly edits: readonly QueuedEdit[]; readonly fault: Fault } | undefined
}

interface ApplyOptions {
  readonly objects: ObjectStore
  readonly growth: GrowthLimits
  /** Unix seconds. */
  readonly now: () => number
  readonly pending: PendingDirs
  /** Whether consecutive uploads of one author may share a commit. */
  readonly shares: boolean
}

/** Applies edits in order until the new dirs exceed 32 MiB. An edit that throws fails alone. */
export async function applyEdits(
  start: LibraryInfo,
  group: readonly QueuedEdit[],
  { objects, growth, now, pending, shares }: ApplyOptions,
): Promise<AppliedGroup> {
  const source = { objects, libraryKey: start.key, pending }
  const applied: Applied[] = []
  let library = start
  let sliceBegan = performance.now()
  const failed = new Set<QueuedEdit>()
  const open = shares ? shareCommits(group) : group.map((queued) => [queued])
  for (let sharing = open.shift(); sharing !== undefined; sharing = open.shift()) {
    // Commit times of a library never decrease, even if the clock does.
    const at = Math.max(now(), library.updatedAt)
    const tree = await WorkingTree.open(source, library.root, at)
    const done: Done[] = []
    for (const queued of sharing) {
      try {
        done.push({ queued, edited: await queued.edit.apply(tree, library) })
      } catch (error) {
        failed.add(queued)
        queued.reject(error)
      }
    }
    const edited = done.length > 0 ? await tree.finish() : undefined
    const fault = edited && growth.refusalOf({ ...edited, sizeBefore: library.size })
    if (fault !== undefined) {
      const refused = { edits: done.map(({ queued }) => queued), fault }
      return { applied: [], left: [], failed, refused }
    }
    const outcome = commitFor(done, library, edited, at)
    applied.push(...outcome)
    library = outcome.at(-1)?.committed.library ?? library
    // A later push must see these commits as part of the history.
    if (outcome.some(({ joining }) => joining.length > 0)) break
    if (pending.weight > HEAVIEST_GROUP_BYTES) break
    if (performance.now() - sliceBegan > SLICE_MS) {
      await nextTick()
      sliceBegan = performance.now()
    }
  }
  return { applied, left: open.flat(), failed, refused: undefined }
}

/** An edit applied to its tree. */
interface Done {
  readonly queued: QueuedEdit
  readonly edited: Edited<unknown>
}

/** The commits of a group. One that edits share is listed once. */
export function commitsOf(applied: readonly Applied[]): NumberedCommit[] {
  return [...new Set(applied.flatMap((one) => one.committed.commit ?? []))]
}

/** Groups the edits by commit, in order: consecutive uploads of one author share one, unless only some are of visitors. */
function shareCommits(group: readonly QueuedEdit[]): QueuedEdit[][] {
  const sharing: QueuedEdit[][] = []
  for (const queued of group) {
    const before = sharing.at(-1)
    const first = before?.[0]?.edit
    const joins =
      first?.isUpload === true &&
      queued.edit.isUpload === true &&
      first.author === queued.edit.author &&
      isViaLink(first) === isViaLink(queued.edit)
    if (before !== undefined && joins) before.push(queued)
    else sharing.push([queued])
  }
  return sharing
}

function isViaLink({ viaLink }: Pick<Edit<unknown>, 'viaLink'>): boolean {
  return viaLink === true
}

/** One commit for the edits of a tree, or none if the tree did not change. */
function commitFor(
  done: readonly Done[],
  before: LibraryInfo,
  tree: EditedTree | undefined,
  now: number,
): Applied[] {
  const [first] = done
  if (first === undefined) return []
  const { received } = first.edited
  if (tree === undefined && received === undefined && !done.some(({ edited }) => edited.always)) {
    return done.map(({ queued, edited }) => ({
      queued,
      committed: { result: edited.result, library: before, before, commit: undefined },
      tree: undefined,
      contents: [],
      joining: [],
      also: undefined,
    }))
  }
  const uploaded = done.flatMap(({ edited }) => edited.uploaded ?? [])
  const description = done.length === 1 ? first.edited.description : commitMessages.uploaded(uploaded)
  const root = tree?.root ?? before.root
  const { commit, joining } =
    received === undefined
      ? { commit: newCommit(before, root, first.queued.edit, description, now), joining: [] }
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
    modifier: commit.creatorName ?? first.queued.edit.author,
    modifierViaLink: commit.viaLink === true,
  }
  return done.map(({ queued, edited }, index) => ({
    queued,
    committed: { result: edited.result, library, before, commit },
    tree: index === 0 ? tree : undefined,
    contents: edited.contents ?? [],
    joining: index === 0 ? joining : [],
    also: edited.also,
  }))
}

/**
 * The new head of a push: the last received commit (fast-forward), or its merge with the current head. A
 * client's clock may be wrong, so commit times are clamped between that of the current head and now.
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
    const made = newCommit(before, root, { author: tip.creatorName ?? '' }, description, now, tip.id)
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
  edit: Pick<Edit<unknown>, 'author' | 'viaLink'>,
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
    creatorName: edit.author,
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
    ...(isViaLink(edit) && { viaLink: true }),
  }
}
