import { setImmediate as nextTurn } from 'node:timers/promises'
import { fail } from '../../base/errors.ts'
import { type CommitId, type Dirent, type FileDirent, fileDirent } from '../../base/objects/index.ts'
import {
  baseName,
  below,
  conflictName,
  freeName,
  freeWholeName,
  joinPath,
  type LibraryPath,
  parentOf,
  ROOT,
  segmentsOf,
} from '../../base/paths/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { type Committed, commitMessages, commitRows } from '../commits/index.ts'
import type { Content } from '../content/index.ts'
import { dbOf, newEntryIn } from '../library/for-operations.ts'
import { type EditableLibrary, fileLocks, type LibraryCore, type Ready } from '../library/index.ts'
import type { Tree, WorkingTree } from '../tree/index.ts'
import type { Placed } from './entries.ts'

/** Maximum number of numbered files of one name in a folder. */
const MAX_NUMBERED = 1000

/** About a millisecond of work between yields (I10). */
const FILES_PER_TURN = 200

/** A file to be added to a folder. */
export interface NewFile {
  readonly name: string
  readonly content: Content
  /** Unix seconds. Default: the time of the upload. */
  readonly mtime?: number | undefined
}

interface UploadOptions {
  /** Folders below the target that are created if missing. The files go into the last. */
  readonly into?: LibraryPath
  /** Replaces a file of the same name. Otherwise, or if a folder has the name, the new file gets ` (n)`. */
  readonly replace?: boolean
  /** A file that the folder has already, with this content, time and modifier and this name, numbered or not, is not added again. So an upload can be repeated. */
  readonly keepSame?: boolean
  /** The description of the commit if no other upload shares it. Default: that of an upload. */
  readonly describe?: (entries: readonly Dirent[]) => string
  /** Writes further rows in the transaction of the commit. */
  readonly also?: (tx: Transaction, placed: readonly Placed[]) => Promise<void>
  /** As for `EditableLibrary.commit`. */
  readonly ready?: Ready | undefined
}

/**
 * Adds files to a folder in one commit, which queued uploads of the same account may share. Throws
 * path-not-found (the folder, or if a file has the path of `into`), locked, too-many-names, name-invalid for
 * a folder of `into`.
 *
 * The add-only right is enforced here, whatever the options are: no file is replaced, and a folder of `into`
 * whose name a file has gets ` (n)`, so that nothing reveals which names are taken.
 */
export function addFiles(
  core: LibraryCore,
  library: EditableLibrary,
  parent: LibraryPath,
  files: readonly NewFile[],
  options: UploadOptions = {},
): Promise<Committed<Placed[]>> {
  const { into = ROOT, describe, also, ready } = options
  const addsOnly = library.right.addsOnly === true
  const replace = options.replace === true && !addsOnly
  return library.commitUpload(async (tree) => {
    if (!(await tree.hasDir(parent))) fail({ code: 'path-not-found', path: parent, wanted: 'Folder' })
    const folder = addsOnly ? await numberedFolder(tree, parent, into) : below(parent, into)
    const touched = replace ? await replaced(tree, folder, files) : []
    await fileLocks.refuse(core, library, [...touched, newEntryIn(folder)])
    // With the add-only right nothing may reveal what the folder has.
    const kept =
      options.keepSame && !replace && !addsOnly ? await sameFiles(library, tree, folder, files) : []
    const added = kept.length === 0 ? files : files.filter((_, index) => kept[index] === undefined)
    const names = await namesFor(tree, folder, added, replace)
    // Throws if a file has the path, before it has changed anything.
    await tree.makeDirs(folder)
    const target = await tree.folder(folder)
    const entries: FileDirent[] = []
    for (const [index, { content, mtime }] of added.entries()) {
      const name = names[index] ?? ''
      const entry = direntOf(library, name, content, modificationTime(mtime, tree.now), target.find(name))
      target.put(entry)
      entries.push(entry)
      if (index % FILES_PER_TURN === FILES_PER_TURN - 1) await nextTurn()
    }
    const inOrder = entries.values()
    const placed = files.flatMap((_, index) => {
      const entry = kept[index] ?? inOrder.next().value
      return entry === undefined ? [] : [{ path: joinPath(folder, entry.name), entry }]
    })
    if (added.length === 0) return { description: '', result: placed }
    return {
      description: describe?.(entries) ?? commitMessages.uploaded(names),
      uploaded: names,
      result: placed,
      contents: added.map((file) => file.content),
      ...(also && { also: (tx: Transaction) => also(tx, placed) }),
    }
  }, ready)
}

/**
 * Creates the missing folders of `into` below a folder, in one commit; none if all exist. Throws path-not-found, name-invalid. With the
 * add-only right, names that files have are numbered as in addFiles.
 */
export function addFolder(
  library: EditableLibrary,
  parent: LibraryPath,
  into: LibraryPath,
  also: (tx: Transaction, folder: LibraryPath) => Promise<void>,
): Promise<Committed<LibraryPath>> {
  const addsOnly = library.right.addsOnly === true
  return library.commitUpload(async (tree) => {
    if (!(await tree.hasDir(parent))) fail({ code: 'path-not-found', path: parent, wanted: 'Folder' })
    const folder = addsOnly ? await numberedFolder(tree, parent, into) : below(parent, into)
    if (await tree.hasDir(folder)) return { description: '', result: folder }
    await library.refuseLockedFolder(parentOf(folder))
    // Throws if a file has the path, before it has changed anything.
    await tree.makeDirs(folder)
    return {
      description: commitMessages.addedDirs(folder.slice(1)),
      uploaded: [baseName(folder)],
      result: folder,
      also: (tx: Transaction) => also(tx, folder),
    }
  })
}

/** The folder `into` below `parent`. A segment that a file has is numbered until it is a folder or free. */
async function numberedFolder(
  tree: WorkingTree,
  parent: LibraryPath,
  into: LibraryPath,
): Promise<LibraryPath> {
  let at = parent
  for (const wanted of segmentsOf(into)) {
    const files = new Set<string>()
    let name = wanted
    while ((await tree.find(joinPath(at, name)))?.kind === 'file') {
      files.add(name)
      if (files.size > MAX_NUMBERED) fail({ code: 'too-many-names', name: wanted })
      name = freeWholeName(wanted, (one) => files.has(one))
    }
    at = joinPath(at, name)
  }
  return at
}

interface UpdateOptions {
  /** The commit that the new content is based on. An edit of an older state must not undo a newer one. */
  readonly base?: CommitId | undefined
  readonly mtime?: number | undefined
  readonly also?: (tx: Transaction) => Promise<void>
  /** As for `EditableLibrary.commit`. */
  readonly ready?: Ready | undefined
}

/**
 * Replaces the content of a file. If the file changed since `base`, the new content becomes a conflict copy.
 * No commit is created if the content is the same. Throws path-not-found (unless the base still had the
 * file), commit-not-found, locked.
 */
export function replaceFile(
  core: LibraryCore,
  library: EditableLibrary,
  path: LibraryPath,
  content: Content,
  options: UpdateOptions = {},
): Promise<Committed<Placed>> {
  const { base, mtime, also, ready } = options
  return library.commit(async (tree) => {
    await fileLocks.refuse(core, library, [path])
    const was = base === undefined ? undefined : await fileAt(core, library, base, path)
    const now = await tree.find(path)
    if (now?.kind !== 'file' && was === undefined) fail({ code: 'path-not-found', path, wanted: 'File' })
    const parent = parentOf(path)
    const isConflict = now !== undefined && was !== undefined && now.id !== was.id && now.id !== content.id
    const wanted = isConflict
      ? conflictName(baseName(path), library.actor.email, modificationTime(mtime, tree.now))
      : (now?.name ?? baseName(path))
    const name = isConflict ? await tree.freeNameIn(parent, wanted) : wanted
    if (!isConflict && now?.id === content.id) return { description: '', result: { path, entry: now } }
    if (!(await tree.hasDir(parent))) await tree.makeDirs(parent)
    const entry = direntOf(
      library,
      name,
      content,
      modificationTime(mtime, tree.now),
      isConflict ? undefined : now,
    )
    await tree.put(parent, entry)
    return {
      description: isConflict ? commitMessages.conflict(name) : commitMessages.modified(name),
      result: { path: joinPath(parent, name), entry },
      contents: [content],
      ...(also && { also }),
    }
  }, ready)
}

/** The dirent of new content. A replaced executable file stays executable. */
function direntOf(
  library: EditableLibrary,
  name: string,
  content: Content,
  mtime: number,
  replacing: Dirent | undefined,
): FileDirent {
  const { id, size } = content
  const mode = replacing?.kind === 'file' ? { mode: replacing.mode } : {}
  return fileDirent({ id, name, size, mtime, modifier: library.actor.email, ...mode })
}

async function treeAt(core: LibraryCore, library: EditableLibrary, id: CommitId): Promise<Tree> {
  if (id === library.info.head) return library.tree
  const commit = await commitRows.find(dbOf(core), library.info, id)
  // A base from before the folder was shared is not accepted.
  const isShown = commit !== undefined && commit.seq >= (library.info.sub?.sinceSeq ?? 0)
  if (!isShown) return fail({ code: 'commit-not-found', id })
  return library.history.treeOf(commit)
}

async function fileAt(
  core: LibraryCore,
  library: EditableLibrary,
  id: CommitId,
  path: LibraryPath,
): Promise<Dirent | undefined> {
  const entry = await (await treeAt(core, library, id)).find(path)
  return entry?.kind === 'file' ? entry : undefined
}

/**
 * The names for new files in a folder that may be missing. Does not change the tree. Throws too-many-names.
 */
async function namesFor(
  tree: WorkingTree,
  folder: LibraryPath,
  files: readonly NewFile[],
  replace: boolean,
): Promise<string[]> {
  const wanted = files.map((file) => file.name)
  if (!replace) return tree.freeNamesIn(folder, wanted, MAX_NUMBERED)
  const names: string[] = []
  for (const name of wanted) {
    const taken = await tree.find(joinPath(folder, name))
    // A folder is never replaced.
    const free = taken?.kind === 'dir' ? await tree.freeNamesIn(folder, [name], MAX_NUMBERED) : []
    names.push(free[0] ?? taken?.name ?? name)
  }
  return names
}

/** For each file the entry that is the same file, which may have got a number; undefined if the folder has none. */
async function sameFiles(
  library: EditableLibrary,
  tree: WorkingTree,
  folder: LibraryPath,
  files: readonly NewFile[],
): Promise<(FileDirent | undefined)[]> {
  if (!(await tree.hasDir(folder))) return []
  const target = await tree.folder(folder)
  const isSame = (entry: Dirent, { content, mtime }: NewFile) =>
    entry.kind === 'file' &&
    entry.id === content.id &&
    entry.mtime === mtime &&
    entry.modifier === library.actor.email
  return files.map((file) => {
    let same: Dirent | undefined
    let tries = 0
    // Ends at the first name that is free or has the file.
    freeName(file.name, (name) => {
      const entry = target.find(name)
      if (entry !== undefined && isSame(entry, file)) same = entry
      tries += 1
      return entry !== undefined && same === undefined && tries <= MAX_NUMBERED
    })
    return same?.kind === 'file' ? same : undefined
  })
}

async function replaced(
  tree: WorkingTree,
  folder: LibraryPath,
  files: readonly NewFile[],
): Promise<LibraryPath[]> {
  const paths: LibraryPath[] = []
  for (const { name } of files) {
    const path = joinPath(folder, name)
    if ((await tree.find(path))?.kind === 'file') paths.push(path)
  }
  return paths
}

/** A client whose clock is ahead by more than this is not believed. Time zones explain less than a day. */
const MAX_AHEAD_SECONDS = 86_400

/** The time of a new file: the given one, or now if that is missing or not believable. */
export function modificationTime(given: number | undefined, now: number): number {
  return given === undefined || given > now + MAX_AHEAD_SECONDS ? now : given
}
