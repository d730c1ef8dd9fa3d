import { DomainError, type Fault, fail } from '../../base/errors.ts'
import { type CommitId, type Dirent, dirDirent, fileDirent } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { NumberedCommit } from '../commits/index.ts'
import { commitMessages } from '../commits/index.ts'
import { dbOf, isLockable, storesOf } from '../library/for-operations.ts'
import { type EditableLibrary, fileLocks, type LibraryCore, type OwnedLibrary } from '../library/index.ts'
import type { Scope } from '../registry/index.ts'
import type { WorkingTree } from '../tree/index.ts'
import { updateSubLibraryPaths } from '../views/index.ts'
import { dropBound, listDeletedBound, restoreBound } from './bound-paths-store.ts'
import type { RoomLeft } from './selection.ts'

/** An item to be restored from a commit. */
interface Wanted {
  readonly commitId: CommitId
  /** Undefined for an invalid path. */
  readonly path: LibraryPath | undefined
}

/** The result of restoring an item. Its path differs from the wanted one if the name is taken. */
type Restored = { readonly kind: Dirent['kind']; readonly path: LibraryPath } | { readonly fault: Fault }

/** An item found in its commit. */
interface Found {
  readonly path: LibraryPath
  readonly was: Dirent
  /** Bytes in it. */
  readonly bytes: number
  /** The time of the commit it comes from, Unix seconds. */
  readonly from: number
}

/**
 * Restores the content a file had in a commit, or the file with its parent folders. No commit is created if
 * the content is the same. Throws commit-not-found, path-not-found, locked, quota-exceeded.
 */
export function revertFile(
  core: LibraryCore,
  library: EditableLibrary,
  wanted: Wanted,
  roomLeft: RoomLeft,
): Promise<void> {
  return revertOne(core, library, wanted, 'file', roomLeft)
}

/**
 * Restores a folder as it was in a commit; under a numbered name if the current one differs. Throws
 * commit-not-found, path-not-found, quota-exceeded.
 */
export function revertFolder(
  core: LibraryCore,
  library: EditableLibrary,
  wanted: Wanted,
  roomLeft: RoomLeft,
): Promise<void> {
  return revertOne(core, library, wanted, 'dir', roomLeft)
}

async function revertOne(
  core: LibraryCore,
  library: EditableLibrary,
  wanted: Wanted,
  kind: Dirent['kind'],
  roomLeft: RoomLeft,
): Promise<void> {
  const commit = (path: LibraryPath) => library.history.getCommitFor(wanted.commitId, path)
  const found = await find(library, wanted, commit)
  if (found.was.kind !== kind) {
    fail({ code: 'path-not-found', path: found.path, wanted: kind === 'dir' ? 'Folder' : 'File' })
  }
  const [outcome] = await putBack(core, library, [found], roomLeft)
  if (outcome !== undefined && 'fault' in outcome) fail(outcome.fault)
}

/**
 * Restores many files and folders in one commit, by the rules for single ones. An item that cannot be
 * restored fails alone.
 */
export async function restoreEntries(
  core: LibraryCore,
  library: EditableLibrary,
  wanted: readonly Wanted[],
  roomLeft: RoomLeft,
): Promise<Restored[]> {
  const slicer = new TimeSlicer()
  const commits = new Map<CommitId, Promise<NumberedCommit>>()
  const outcomes: (Exclude<Restored, { kind: unknown }> | Found)[] = []
  for (const one of wanted) {
    const commit = () => {
      const getting = commits.get(one.commitId) ?? library.history.getCommit(one.commitId)
      commits.set(one.commitId, getting)
      return getting
    }
    outcomes.push(await attempt(() => find(library, one, commit)))
    if (slicer.isDue) await slicer.rest()
  }
  const put = await putBack(
    core,
    library,
    outcomes.filter((one): one is Found => 'was' in one),
    roomLeft,
  )
  return outcomes.map((one) => {
    return 'was' in one ? (put.shift() ?? { kind: one.was.kind, path: one.path }) : one
  })
}

/**
 * Reverts a library to its tree in a commit by replacing the root, whatever the size of the library. No
 * commit is created if the tree is the same. Throws commit-not-found, quota-exceeded, and locked if a file
 * that another account has locked would change.
 */
export async function revertLibrary(
  core: LibraryCore,
  library: OwnedLibrary,
  commitId: CommitId,
  roomLeft: RoomLeft,
): Promise<void> {
  const commit = await library.history.getCommit(commitId)
  await library.commit(async (tree, info) => {
    if (commit.rootId === info.root) return { description: '', result: undefined }
    const gone = [
      ...(await removedLockedFiles(core, library, tree, commit)),
      ...(await removedBoundItems(core, library, commit)),
    ]
    const missing = await deletedFiles(core, info, tree)
    const { size } = await tree.replaceRoot(commit.rootId)
    const back = await restoredFiles(missing, tree)
    const settled = await storesOf(core).views.locateSubLibraries(info, commit.rootId)
    const room = size > info.size ? await roomLeft(info) : undefined
    if (room !== undefined && size - info.size >= room.left)
      fail({ code: 'quota-exceeded', limit: room.limit })
    return {
      description: commitMessages.revertedLibrary(commit.ctime),
      result: undefined,
      also: async (tx) => {
        await dropBound(core.pathBindings, tx, library.info, gone)
        await restoreBound(core.pathBindings, tx, library.info, back)
        await updateSubLibraryPaths(tx, settled)
      },
    }
  })
}

/** Deleted files whose rows are kept and whose paths are free. */
async function deletedFiles(core: LibraryCore, library: Scope, tree: WorkingTree): Promise<LibraryPath[]> {
  const deleted: LibraryPath[] = []
  const slicer = new TimeSlicer()
  for (const path of await listDeletedBound(core.pathBindings, dbOf(core), library)) {
    if (slicer.isDue) await slicer.rest()
    if ((await tree.find(path)) === undefined) deleted.push(path)
  }
  return deleted
}

/** Those of some deleted files that are in the tree again. */
async function restoredFiles(deleted: readonly LibraryPath[], tree: WorkingTree): Promise<LibraryPath[]> {
  const back: LibraryPath[] = []
  const slicer = new TimeSlicer()
  for (const path of deleted) {
    if (slicer.isDue) await slicer.rest()
    if ((await tree.find(path))?.kind === 'file') back.push(path)
  }
  return back
}

/** Bound items that the commit does not contain. */
async function removedBoundItems(
  core: LibraryCore,
  library: EditableLibrary,
  commit: NumberedCommit,
): Promise<LibraryPath[]> {
  const tree = library.content.tree(commit.rootId)
  const gone: LibraryPath[] = []
  const slicer = new TimeSlicer()
  for (const binding of core.pathBindings) {
    for (const { path, isDir } of (await binding.listItems?.(dbOf(core), library.info.key)) ?? []) {
      if (slicer.isDue) await slicer.rest()
      const entry = await tree.find(path)
      if (path !== ROOT && (entry === undefined || (entry.kind === 'dir') !== isDir)) gone.push(path)
    }
  }
  return gone
}

/**
 * Files that the holder has locked and the commit does not contain. Throws locked if a file locked by others
 * would change.
 */
async function removedLockedFiles(
  core: LibraryCore,
  library: EditableLibrary,
  now: WorkingTree,
  commit: NumberedCommit,
): Promise<LibraryPath[]> {
  const then = await library.history.treeOf(commit)
  const gone: LibraryPath[] = []
  for (const lock of await fileLocks.list(core, library.info)) {
    const { path } = lock
    const was = await then.find(path)
    const isMine = fileLocks.isHeldBy(lock, library.actor.key)
    const isChanged = path === ROOT || was?.id !== (await now.find(path))?.id
    if (!isMine && isChanged) fail({ code: 'locked', path })
    if (!isLockable(lock, was)) gone.push(path)
  }
  return gone
}

/** Throws commit-not-found, path-not-found. */
async function find(
  library: EditableLibrary,
  { path }: Wanted,
  getCommit: (path: LibraryPath) => Promise<NumberedCommit>,
): Promise<Found> {
  if (path === undefined) return fail({ code: 'path-not-found', path: '', wanted: 'Item' })
  const commit = await getCommit(path)
  const was = await (await library.history.treeOf(commit)).find(path)
  if (was === undefined) return fail({ code: 'path-not-found', path, wanted: 'Item' })
  const { size } = await library.content.totalsOf(was)
  return { path, was, bytes: size, from: commit.ctime }
}

async function putBack(
  core: LibraryCore,
  library: EditableLibrary,
  all: readonly Found[],
  roomLeft: RoomLeft,
): Promise<Restored[]> {
  const { result } = await library.commit(async (tree, info) => {
    const locked = await fileLocks.among(
      core,
      library,
      all.map(({ path }) => path),
    )
    const quota = new QuotaLeft(await roomLeft(info))
    const missing = await deletedFiles(core, info, tree)
    const slicer = new TimeSlicer()
    const changed: (Pick<Dirent, 'kind' | 'name'> & { from: number })[] = []
    const outcomes: Restored[] = []
    for (const found of all) {
      const { was, from } = found
      const outcome = await attempt(async () => {
        const path = await putOne(tree, found, library.actor.email, locked, quota)
        if (path !== undefined) changed.push({ kind: was.kind, name: was.name, from })
        return { kind: was.kind, path: path ?? found.path }
      })
      outcomes.push(outcome)
      if (slicer.isDue) await slicer.rest()
    }
    const back = await restoredFiles(missing, tree)
    return {
      description: commitMessages.restored(changed),
      result: outcomes,
      also: (tx) => restoreBound(core.pathBindings, tx, info, back),
    }
  })
  return result
}

/**
 * Where it was put; undefined if it is already there. The tree is unchanged if this throws: locked, quota-exceeded, and
 * path-not-found if a file has the path of a folder.
 */
async function putOne(
  tree: WorkingTree,
  { path, was, bytes }: Found,
  actor: string,
  locked: ReadonlySet<string>,
  quota: QuotaLeft,
): Promise<LibraryPath | undefined> {
  const now = await tree.find(path)
  if (now !== undefined && now.kind === was.kind && now.id === was.id) return undefined
  const replaces = now?.kind === 'file' && was.kind === 'file'
  if (replaces && locked.has(path)) fail({ code: 'locked', path })
  quota.refuse(bytes)
  const parent = parentOf(path)
  await tree.makeDirs(parent, { restored: true })
  quota.take(bytes)
  if (was.kind === 'file') {
    const name = replaces ? now.name : await tree.freeNameIn(parent, was.name)
    // A deleted item returns as it was. A revision that replaces a newer one is a change, made now.
    await tree.put(
      parent,
      fileDirent({ ...was, name, ...(replaces && { mtime: tree.now, modifier: actor }) }),
    )
    return joinPath(parent, name)
  }
  const name = await tree.freeWholeNameIn(parent, was.name)
  await tree.put(parent, dirDirent({ ...was, name }))
  return joinPath(parent, name)
}

/** The quota left while items are restored one after another. */
class QuotaLeft {
  readonly #limit: number
  #left: number

  constructor(quota: { left: number; limit: number } | undefined) {
    this.#limit = quota?.limit ?? 0
    this.#left = quota?.left ?? Number.POSITIVE_INFINITY
  }

  /** Throws quota-exceeded. */
  refuse(bytes: number): void {
    if (bytes >= this.#left) fail({ code: 'quota-exceeded', limit: this.#limit })
  }

  take(bytes: number): void {
    this.#left -= bytes
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<T | { readonly fault: Fault }> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DomainError) return { fault: error.fault }
    throw error
  }
}
