import { fail } from '../../base/errors.ts'
import { type Dirent, dirDirent, EMPTY_ID, type FileDirent, fileDirent } from '../../base/objects/index.ts'
import { baseName, isWithin, type LibraryPath, parentOf } from '../../base/paths/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { commitMessages } from '../commits/index.ts'
import type { Content } from '../content/index.ts'
import { editableOrigin } from '../library/for-operations.ts'
import {
  type EditableLibrary,
  fileLocks,
  type Library,
  type LibraryCore,
  type Ready,
} from '../library/index.ts'
import { inOrigin } from '../registry/index.ts'
import type { WorkingTree } from '../tree/index.ts'
import { copyBound, dropBound, followMove } from './bound-paths-store.ts'
import { copyContent, deleteCopied, refuseUndecrypted } from './cross-library-copy.ts'
import { type RoomLeft, refuseOverQuota } from './selection.ts'
import { modificationTime } from './upload.ts'

// Operations at exact paths, for protocols whose clients choose every name. Nothing is numbered.

/** What became of the target: a new item, one instead of another, or nothing because of what is there. */
export type PlaceOutcome = 'created' | 'replaced' | 'exists' | 'no-parent'

interface PutOptions {
  /** Unix seconds. Default: the time of the upload. */
  readonly mtime?: number | undefined
  /** Whether the file may be stored, given the one that is there. Runs on the head that the commit follows. */
  readonly accepts: (current: FileDirent | undefined) => boolean
  readonly also?: (tx: Transaction) => Promise<void>
  /** As for `EditableLibrary.commit`. */
  readonly ready?: Ready | undefined
}

/**
 * Stores a file, replacing the one at its path. It may share a commit with queued uploads. `exists` if a folder has the path,
 * `refused` if `accepts` refuses. Throws locked, permission-denied for an add-only handle.
 */
export async function putFile(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  content: Content,
  { mtime, accepts, also, ready }: PutOptions,
): Promise<PlaceOutcome | 'refused'> {
  if (library.right.addsOnly) fail({ code: 'permission-denied' })
  const { result } = await library.commitUpload<PlaceOutcome | 'refused'>(async (tree) => {
    const parent = parentOf(path)
    if (!(await tree.hasDir(parent))) return unchanged('no-parent')
    const now = await tree.find(path)
    if (now?.kind === 'dir') return unchanged('exists')
    if (!accepts(now)) return unchanged('refused')
    await fileLocks.refuse(core, library, [path])
    const { id, size } = content
    const name = now?.name ?? baseName(path)
    const entry = { id, size, name, mtime: modificationTime(mtime, tree.now), modifier: library.actor.email }
    await tree.put(parent, fileDirent(now === undefined ? entry : { ...entry, mode: now.mode }))
    return {
      description: commitMessages.uploaded([name]),
      uploaded: [name],
      result: now === undefined ? 'created' : 'replaced',
      contents: [content],
      ...(also && { also }),
    }
  }, ready)
  return result
}

/**
 * Sets the modification time of an item, in one commit; without one if it has that time. Its folders keep their times. Throws
 * path-not-found, locked.
 */
export async function setTime(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  seconds: number,
): Promise<void> {
  await library.commit(async (tree) => {
    const entry = await getEntry(tree, path)
    const mtime = modificationTime(seconds, tree.now)
    if (entry.mtime === mtime) return unchanged(undefined)
    await fileLocks.refuse(core, library, [path])
    await tree.put(parentOf(path), { ...entry, mtime }, { touch: false })
    return { description: commitMessages.modified(entry.name), result: undefined }
  })
}

/** Creates a folder. Throws locked. */
export async function makeFolderAt(library: EditableLibrary, path: LibraryPath): Promise<PlaceOutcome> {
  const { result } = await library.commit<PlaceOutcome>(async (tree) => {
    const parent = parentOf(path)
    if (!(await tree.hasDir(parent))) return unchanged('no-parent')
    if ((await tree.find(path)) !== undefined) return unchanged('exists')
    await library.refuseLockedFolder(parent)
    const entry = dirDirent({ id: EMPTY_ID, name: baseName(path), mtime: tree.now })
    await tree.put(parent, entry)
    return { description: commitMessages.added([entry]), result: 'created' }
  })
  return result
}

interface CopyOptions {
  /** Whether an item at the target may be replaced. */
  readonly replaces: boolean
  /** Copies a folder without its content. */
  readonly isShallow?: boolean
  /** Copies the item as it is in the tree of the source, which is not that of the head. It may replace the current one. */
  readonly isPast?: boolean
  readonly roomLeft: RoomLeft
}

/**
 * Copies an item to a path, in one commit. Objects are shared, so the cost does not depend on the size of the item, unless it is
 * copied into another library. Throws path-not-found, into-itself, locked, password-needed, quota-exceeded.
 */
export async function copyTo(
  core: LibraryCore,
  source: Library,
  from: LibraryPath,
  target: EditableLibrary,
  to: LibraryPath,
  options: CopyOptions,
): Promise<PlaceOutcome> {
  const { replaces, isShallow = false, isPast = false, roomLeft } = options
  if (source.info.key !== target.info.key) {
    return copyAcross(core, { source, from }, { target, to }, options)
  }
  const same = sameTree(core, { source, from }, { target, to })
  const { library } = same
  const earlier = isPast ? await getEntry(source.tree, from) : undefined
  if (!isPast) refuseOverlap(same.from, same.to)
  const { result } = await library.commit<PlaceOutcome>(async (tree, info) => {
    const entry = earlier ?? (await getEntry(tree, same.from))
    const outcome = await outcomeAt(tree, same.to, replaces)
    if (outcome !== 'created' && outcome !== 'replaced') return unchanged(outcome)
    await fileLocks.refuse(core, library, [same.to])
    const copied = isShallow && entry.kind === 'dir' ? { ...entry, id: EMPTY_ID } : entry
    await refuseOverQuota(info, (await tree.totalsOf(copied)).size, roomLeft)
    const placed = await putAt(tree, same.to, copied, library.actor.email)
    return {
      description: commitMessages.added([placed]),
      result: outcome,
      async also(tx) {
        if (outcome === 'replaced') await dropBound(core.pathBindings, tx, library.info, [same.to])
        const copies = isPast ? [] : [{ from: same.from, path: same.to }]
        await copyBound(core, tx, library.info, library.info, copies)
      },
    }
  })
  return result
}

/**
 * Moves an item to a path, in one commit; between libraries with one in the target, then one in the source, which deletes only
 * what was copied. Locks, stars, links and properties follow. Throws like copyTo, and source-changed.
 */
export async function moveTo(
  core: LibraryCore,
  source: EditableLibrary,
  from: LibraryPath,
  target: EditableLibrary,
  to: LibraryPath,
  { replaces, roomLeft }: CopyOptions,
): Promise<PlaceOutcome> {
  if (source.info.key !== target.info.key) {
    const entry = await getEntry(source.tree, from)
    await fileLocks.refuse(core, source, [from])
    const outcome = await copyAcross(core, { source, from }, { target, to }, { replaces, roomLeft })
    if (outcome === 'created' || outcome === 'replaced') {
      await deleteCopied(core, source, [{ path: from, entry }])
    }
    return outcome
  }
  const same = sameTree(core, { source, from }, { target, to })
  const { library } = same
  refuseOverlap(same.from, same.to)
  const { result } = await library.commit<PlaceOutcome>(async (tree) => {
    const entry = await getEntry(tree, same.from)
    const outcome = await outcomeAt(tree, same.to, replaces)
    if (outcome !== 'created' && outcome !== 'replaced') return unchanged(outcome)
    await fileLocks.refuse(core, library, [same.from, same.to])
    await tree.take(same.from)
    const placed = await putAt(tree, same.to, entry, library.actor.email)
    return {
      description: commitMessages.moved([placed]),
      result: outcome,
      async also(tx) {
        if (outcome === 'replaced') await dropBound(core.pathBindings, tx, library.info, [same.to])
        await followMove(core.pathBindings, tx, library.info, same.from, same.to)
      },
    }
  })
  return result
}

interface Source {
  readonly source: Library
  readonly from: LibraryPath
}

interface Target {
  readonly target: EditableLibrary
  readonly to: LibraryPath
}

async function copyAcross(
  core: LibraryCore,
  { source, from }: Source,
  { target, to }: Target,
  { replaces, isShallow = false, isPast = false, roomLeft }: CopyOptions,
): Promise<PlaceOutcome> {
  await refuseUndecrypted(core, source, target)
  const found = await getEntry(source.tree, from)
  const entry: Dirent = isShallow && found.kind === 'dir' ? { ...found, id: EMPTY_ID } : found
  const early = await outcomeAt(target.tree, to, replaces)
  if (early !== 'created' && early !== 'replaced') return early
  const totals = await source.content.totalsOf(entry)
  await refuseOverQuota(target.info, totals.size, roomLeft)
  const entries = totals.fileCount + (totals.dirCount ?? 0)
  const fault = core.growth.refusalOf({ entriesBefore: 0, entries })
  if (fault !== undefined) fail(fault)
  const [arrived] = await copyContent(core, source, [{ path: from, entry }], target)
  const { result } = await target.commit<PlaceOutcome>(async (tree, info) => {
    const outcome = await outcomeAt(tree, to, replaces)
    if (outcome !== 'created' && outcome !== 'replaced') return unchanged(outcome)
    await fileLocks.refuse(core, target, [to])
    await refuseOverQuota(info, totals.size, roomLeft)
    const placed = await putAt(tree, to, arrived?.entry ?? entry, target.actor.email)
    return {
      description: commitMessages.added([placed]),
      result: outcome,
      async also(tx) {
        if (outcome === 'replaced') await dropBound(core.pathBindings, tx, target.info, [to])
        const copies = isPast ? [] : [{ from, path: to }]
        await copyBound(core, tx, source.info, target.info, copies)
      },
    }
  })
  return result
}

/** Two views of one tree: the same view, or their origin with the paths it has for them. */
function sameTree(core: LibraryCore, { source, from }: Source, { target, to }: Target) {
  if (source.info.id === target.info.id) return { library: target, from, to }
  const library = editableOrigin(core, target)
  return { library, from: inOrigin(source.info, from), to: inOrigin(target.info, to) }
}

/** Throws into-itself if one of the paths is the other, or below it. */
function refuseOverlap(from: LibraryPath, to: LibraryPath): void {
  if (isWithin(from, to) || isWithin(to, from)) {
    fail({ code: 'into-itself', source: from, destination: to })
  }
}

async function getEntry(
  tree: { find(path: LibraryPath): Promise<Dirent | undefined> },
  path: LibraryPath,
): Promise<Dirent> {
  return (await tree.find(path)) ?? fail({ code: 'path-not-found', path, wanted: 'Item' })
}

async function outcomeAt(
  tree: {
    find(path: LibraryPath): Promise<Dirent | undefined>
    hasDir?(path: LibraryPath): Promise<boolean>
    findDir?(path: LibraryPath): unknown
  },
  path: LibraryPath,
  replaces: boolean,
): Promise<PlaceOutcome> {
  const parent = parentOf(path)
  const hasParent = tree.hasDir ? await tree.hasDir(parent) : (await tree.findDir?.(parent)) !== undefined
  if (!hasParent) return 'no-parent'
  if ((await tree.find(path)) === undefined) return 'created'
  return replaces ? 'replaced' : 'exists'
}

/** Puts an entry at a path instead of what is there. Its time stays. */
async function putAt(tree: WorkingTree, path: LibraryPath, entry: Dirent, actor: string): Promise<Dirent> {
  if ((await tree.find(path)) !== undefined) await tree.take(path)
  const name = baseName(path)
  const placed: Dirent = entry.kind === 'file' ? { ...entry, name, modifier: actor } : { ...entry, name }
  await tree.put(parentOf(path), placed)
  return placed
}

function unchanged<T>(result: T): { description: string; result: T } {
  return { description: '', result }
}
