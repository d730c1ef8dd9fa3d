import type { Dirent, DirId } from '../../base/objects/index.ts'
import { baseName, joinPath, type LibraryPath, parentOf, ROOT, segmentsOf } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { type Change, entriesOnce, type ObjectStore } from '../../libraries/tree/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { type Entry, findEntriesIn, listFoldersFrom, listKeysIn, listKeysOf } from './entry-store.ts'
import { rootKeyOf } from './keys.ts'
import type { StepWriter } from './step-writer.ts'

const KEYS_PER_PAGE = 1000
const FOLDERS_PER_LOOKUP = 500

/** The source and the target of a step. */
interface TreeStepParts {
  readonly db: Database
  readonly libraryDb: Database
  readonly objects: ObjectStore
  readonly libraryKey: number
  readonly writer: StepWriter
}

/** The folders on the way to some folders. */
interface Branch {
  /** The path, if it is one of those folders. */
  path: LibraryPath | undefined
  /** By name. */
  readonly below: Map<string, Branch>
}

/** An indexed folder on the way, and its dir in the new tree. */
interface Folder {
  readonly key: number
  readonly id: DirId
  readonly branch: Branch
}

/** Updates the entries of a library from one tree to the next. */
export class TreeStep {
  readonly #parts: TreeStepParts
  readonly #slicer = new TimeSlicer()
  readonly #folders = new Map<LibraryPath, number>()

  constructor(parts: TreeStepParts) {
    this.#parts = parts
    this.#folders.set(ROOT, rootKeyOf(parts.libraryKey))
  }

  /** Deletes all entries of the library. */
  async clear(): Promise<void> {
    const { db, libraryKey, writer } = this.#parts
    for (;;) {
      const keys = await listKeysOf(db, libraryKey, KEYS_PER_PAGE)
      if (keys.length === 0) return
      await writer.remove(keys)
      await writer.flush()
    }
  }

  /** Adds all entries of a tree. */
  async addTree(root: DirId): Promise<void> {
    await this.#addBelow(root, rootKeyOf(this.#parts.libraryKey))
  }

  /**
   * Applies the differences between two trees, as `diffTrees` lists them `withFolders`, and the root of the second. Every
   * change is in a folder that both trees have at the same path, so its key can be looked up before anything is written.
   */
  async apply(changes: readonly Change[], root: DirId): Promise<void> {
    const { known, touched } = await this.#lookUp(changes, root)
    const gone = changes.filter(({ op }) => op === 'deleted').map(({ path }) => known.get(path))
    const renamed = changes.filter((change) => change.op === 'renamed')
    const leaving = new Set([...gone, ...renamed.map(({ path }) => known.get(path))])
    // A row in the place of an added entry is stale and is removed.
    const arrivals = changes.filter(({ op }) => op === 'added' || op === 'renamed').map(newPathOf)
    const stray = arrivals.map((path) => known.get(path)).filter((entry) => !leaving.has(entry))
    await this.#remove([...gone, ...stray].filter((entry) => entry !== undefined))
    for (const change of renamed) {
      const entry = known.get(change.path)
      const at = this.#entryAt(change.newPath, change.entry, entry?.key)
      if (entry === undefined) await this.#add(at, change.entry)
      else if (entry.name === at.name) await this.#parts.writer.update(at, false)
      else await this.#parts.writer.rename(at)
    }
    for (const change of changes) {
      if (this.#slicer.isDue) await this.#slicer.rest()
      if (change.op === 'added') await this.#add(this.#entryAt(change.path, change.entry), change.entry)
      else if (change.op === 'modified') await this.#modify(change.path, change.entry, known.get(change.path))
    }
    for (const folder of touched) await this.#parts.writer.update(folder, false)
  }

  async #modify(path: LibraryPath, dirent: Dirent, known: Entry | undefined): Promise<void> {
    const at = this.#entryAt(path, dirent, known?.key)
    if (known === undefined) await this.#add(at, dirent)
    else await this.#parts.writer.update(at, dirent.kind === 'file' && known.objectId !== dirent.id)
  }

  /** The indexed entries at the paths of the changes, and the folders above them whose time is another in the new tree. */
  async #lookUp(
    changes: readonly Change[],
    root: DirId,
  ): Promise<{ known: Map<LibraryPath, Entry>; touched: Entry[] }> {
    const paths = new Set(changes.flatMap((change) => [change.path, newPathOf(change)]))
    const known = new Map<LibraryPath, Entry>()
    const byFolder = Map.groupBy(paths, parentOf)
    const touched = await this.#findFolders(byFolder.keys(), root)
    const parents = new Map<number, LibraryPath>()
    const names = new Map<number, string[]>()
    for (const [parent, inside] of byFolder) {
      const key = this.#folderKey(parent)
      parents.set(key, parent)
      names.set(key, inside.map(baseName))
    }
    for (const entry of await findEntriesIn(this.#parts.db, names)) {
      if (this.#slicer.isDue) await this.#slicer.rest()
      known.set(joinPath(parents.get(entry.parentKey) ?? ROOT, entry.name), entry)
    }
    return { known, touched }
  }

  /**
   * Looks up the keys of folders from the root down, each folder on the way once, and those of one level in one query. Returns
   * the new state of those whose time is another in the new tree. Folders that are not indexed are left out.
   */
  async #findFolders(paths: Iterable<LibraryPath>, root: DirId): Promise<Entry[]> {
    const { db, objects, libraryKey } = this.#parts
    const touched: Entry[] = []
    let level: Folder[] = [{ key: rootKeyOf(libraryKey), id: root, branch: branchTo(paths) }]
    while (level.length > 0) {
      const names = new Map(level.map(({ key, branch }) => [key, [...branch.below.keys()]]))
      const found = await findEntriesIn(db, names)
      const rows = new Map(found.map((row) => [`${row.parentKey}/${row.name}`, row]))
      const next: Folder[] = []
      for (const { key, id, branch } of level) {
        if (branch.path !== undefined) this.#folders.set(branch.path, key)
        if (branch.below.size === 0) continue
        const { dir } = await objects.getDir(libraryKey, id)
        for (const [name, below] of branch.below) {
          if (this.#slicer.isDue) await this.#slicer.rest()
          const row = rows.get(`${key}/${name}`)
          const dirent = dir.find(name)
          if (row === undefined || dirent?.kind !== 'dir') continue
          if (row.mtime !== dirent.mtime) touched.push(this.#entry(key, dirent, row.key))
          next.push({ key: row.key, id: dirent.id, branch: below })
        }
      }
      level = next
    }
    return touched
  }

  #folderKey(path: LibraryPath): number {
    const key = this.#folders.get(path)
    if (key === undefined) throw new IndexIncomplete(this.#parts.libraryKey, path)
    return key
  }

  #entryAt(path: LibraryPath, dirent: Dirent, key?: number): Entry {
    return this.#entry(this.#folderKey(parentOf(path)), dirent, key)
  }

  #entry(parentKey: number, dirent: Dirent, key = this.#parts.writer.newKey()): Entry {
    const { name, mtime, id: objectId } = dirent
    const isDir = dirent.kind === 'dir'
    return { key, parentKey, name, isDir, objectId, size: isDir ? 0 : dirent.size, mtime }
  }

  async #add(entry: Entry, dirent: Dirent): Promise<void> {
    await this.#parts.writer.add(entry)
    if (dirent.kind === 'dir') await this.#addBelow(dirent.id, entry.key)
  }

  async #addBelow(root: DirId, rootKey: number): Promise<void> {
    const { libraryDb, objects, libraryKey, writer } = this.#parts
    const open: [id: DirId, key: number][] = [[root, rootKey]]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [id, parentKey] = next
      for (const some of await entriesOnce({ db: libraryDb, objects }, libraryKey, id)) {
        for (const dirent of some) {
          if (this.#slicer.isDue) await this.#slicer.rest()
          const entry = this.#entry(parentKey, dirent)
          await writer.add(entry)
          if (dirent.kind === 'dir') open.push([dirent.id, entry.key])
        }
      }
    }
  }

  /** Removes an entry with everything below it. */
  async #remove(entries: readonly Entry[]): Promise<void> {
    const { db, writer } = this.#parts
    const keys = entries.map(({ key }) => key)
    const folders = entries.filter(({ isDir }) => isDir).map(({ key }) => key)
    const below = folders.length === 0 ? [] : await listFoldersFrom(db, folders)
    for (let start = 0; start < below.length; start += FOLDERS_PER_LOOKUP) {
      const some = below.slice(start, start + FOLDERS_PER_LOOKUP)
      for (let after = 0; ; ) {
        const page = await listKeysIn(db, some, after, KEYS_PER_PAGE)
        const last = page.at(-1)
        if (last === undefined) break
        await writer.remove(page)
        after = last
      }
    }
    for (let start = 0; start < keys.length; start += KEYS_PER_PAGE) {
      await writer.remove(keys.slice(start, start + KEYS_PER_PAGE))
    }
  }
}

/** The index lacks a folder of the tree and must be rebuilt. */
export class IndexIncomplete extends Error {
  constructor(libraryKey: number, path: LibraryPath) {
    super(`the index of library ${libraryKey} has no folder ${path}`)
    this.name = 'IndexIncomplete'
  }
}

function branchTo(paths: Iterable<LibraryPath>): Branch {
  const root: Branch = { path: undefined, below: new Map() }
  for (const path of paths) {
    let branch = root
    for (const name of segmentsOf(path)) {
      const below = branch.below.get(name) ?? { path: undefined, below: new Map() }
      branch.below.set(name, below)
      branch = below
    }
    branch.path = path
  }
  return root
}

function newPathOf(change: Change): LibraryPath {
  return change.op === 'renamed' ? change.newPath : change.path
}
