import { type Dir, type DirId, dirDirent, EMPTY_ID } from '../../base/objects/index.ts'
import { baseName, joinPath, type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import { commitMessages, commitRows, type NumberedCommit } from '../../libraries/commits/index.ts'
import { copyObjects } from '../../libraries/content/index.ts'
import { oldestShown } from '../../libraries/history/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { EditableLibrary } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { storedObjects, Tree } from '../../libraries/tree/index.ts'
import { recoveredName } from './older-revision.ts'
import type { RepairParts } from './repair-parts.ts'

const COMMITS_PER_STEP = 250

/** An earlier version of a folder, and the newest commit that has it. */
interface OlderFolder {
  readonly id: DirId
  readonly commit: NumberedCommit
}

/**
 * Adds the newest older version of a lost folder, all of whose folders are there, next to it, as `name (recovered from DATE)`. The lost one stays. If the root
 * itself is lost, nothing can be added to the library, so the older tree becomes a new library with such a name. Resolves to what was added; undefined if there is
 * no older version, or it cannot be added.
 */
export async function recoverFolder(
  parts: RepairParts,
  library: LibraryInfo,
  path: LibraryPath,
  lost: DirId,
): Promise<string | undefined> {
  try {
    const older = await newestWholeFolder(parts, library, path, lost)
    if (older === undefined) return undefined
    return await (path === ROOT ? asLibrary(parts, library, older) : asFolder(parts, library, path, older))
  } catch {
    // A folder above is lost as well, or the library is read-only: it stays among what could not be saved.
    return undefined
  }
}

/** The older versions of a folder, newest first, each once. */
export async function* olderFolders(
  { db, core }: RepairParts,
  library: LibraryInfo,
  path: LibraryPath,
  lost: DirId,
): AsyncGenerator<OlderFolder, void> {
  const { key, headSeq } = library
  const { now, defaultHistoryDays } = core
  const oldest = await oldestShown({ db, now, defaultHistoryDays }, library)
  const seen = new Set<DirId>([lost, EMPTY_ID])
  for (let from = headSeq; from >= oldest; from -= COMMITS_PER_STEP) {
    const to = Math.max(oldest, from - COMMITS_PER_STEP + 1)
    for (const commit of await commitRows.listDown(db, library, from, to)) {
      const entry = await entryAt(new Tree(storesOf(core).objects, key, commit.rootId), path)
      if (entry === undefined || seen.has(entry)) continue
      seen.add(entry)
      yield { id: entry, commit }
    }
  }
}

/** Undefined also if a folder above is lost. */
async function entryAt(tree: Tree, path: LibraryPath): Promise<DirId | undefined> {
  if (path === ROOT) return tree.root
  const entry = await tree.find(path).catch(() => undefined)
  return entry?.kind === 'dir' ? entry.id : undefined
}

async function newestWholeFolder(
  parts: RepairParts,
  library: LibraryInfo,
  path: LibraryPath,
  lost: DirId,
): Promise<OlderFolder | undefined> {
  const whole = new Set<DirId>([EMPTY_ID])
  for await (const older of olderFolders(parts, library, path, lost)) {
    if (await isWhole(parts, library.key, older.id, whole)) return older
  }
  return undefined
}

/** Whether a folder and all folders below it can be read. `whole` collects those that can. */
async function isWhole(
  { db }: RepairParts,
  libraryKey: number,
  root: DirId,
  whole: Set<DirId>,
): Promise<boolean> {
  const visited = new Set<DirId>()
  const open = [root]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (whole.has(id) || visited.has(id)) continue
    const dir = await findWholeDir({ db }, libraryKey, id)
    if (dir === undefined) return false
    visited.add(id)
    for (const entry of dir.entries) if (entry.kind === 'dir') open.push(entry.id)
  }
  for (const id of visited) whole.add(id)
  return true
}

/** A dir that hashes to its id. */
export async function findWholeDir(
  { db }: Pick<RepairParts, 'db'>,
  libraryKey: number,
  id: DirId,
): Promise<Dir | undefined> {
  const found = await storedObjects.inspectDir(db, libraryKey, id)
  return 'problem' in found ? undefined : found.dir
}

async function asFolder(
  { core, isDryRun, openAsOwner }: RepairParts,
  library: LibraryInfo,
  path: LibraryPath,
  { id, commit }: OlderFolder,
): Promise<string | undefined> {
  const parent = parentOf(path)
  const wanted = recoveredName(baseName(path), commit.ctime)
  const there = await new Tree(storesOf(core).objects, library.key, library.root).find(
    joinPath(parent, wanted),
  )
  // Recovered before.
  if (there?.id === id || isDryRun) return joinPath(parent, wanted)
  const editable = await openAsOwner(library)
  if (editable === undefined) return undefined
  const { result } = await editable.commit(async (tree) => {
    const name = await tree.freeWholeNameIn(parent, wanted)
    const entry = dirDirent({ id, name, mtime: tree.now })
    await tree.put(parent, entry)
    return { description: commitMessages.added([entry]), result: joinPath(parent, name) }
  })
  return result
}

async function asLibrary(
  parts: RepairParts,
  library: LibraryInfo,
  { id, commit }: OlderFolder,
): Promise<string | undefined> {
  // The password of an encrypted library is bound to its id, so a copy could not be opened.
  if (library.encryption !== undefined) return undefined
  const name = recoveredName(library.name, commit.ctime)
  const said = `the library "${name}"`
  if (parts.isDryRun || (await parts.ownerHasLibrary(library, name))) return said
  const created = await parts.createForOwner(library, name)
  if (created === undefined) return undefined
  await copyRoot(parts, library, id, created)
  return said
}

async function copyRoot(
  { db, core }: RepairParts,
  library: LibraryInfo,
  root: DirId,
  target: EditableLibrary,
): Promise<void> {
  const { entries } = (await storesOf(core).objects.getDir(library.key, root)).dir
  await copyObjects({ db, objects: storesOf(core).objects }, library.key, target.info.key, entries)
  await target.commit(async (tree) => {
    for (const entry of entries) await tree.put(ROOT, entry)
    return { description: commitMessages.added(entries), result: undefined }
  })
}
