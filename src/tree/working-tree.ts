import { setImmediate as nextTurn } from 'node:timers/promises'
import { fail } from '../errors.ts'
import {
  baseName,
  type DirDirent,
  type Dirent,
  type DirId,
  dirDirent,
  EMPTY_ID,
  freeName,
  freeWholeName,
  joinPath,
  type LibraryPath,
  parentOf,
  parseName,
  ROOT,
  segmentsOf,
} from '../objects/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import type { Change } from './diff.ts'
import type { StoredDir } from './dir-cache.ts'
import { countDirs } from './dir-counts.ts'
import { changesOf } from './edited-changes.ts'
import { type ObjectStore, type PreparedObject, prepareDir, type Totals } from './object-store.ts'

const LEVELS_A_TURN = 256
/** The most characters of a path whose folders are made along the way. */
const LONGEST_NEW_PATH = 4096

/** One dir of a tree being edited: what it was, and what is to differ. */
interface Node {
  stored: StoredDir
  readonly changes: Map<string, Dirent | null>
  readonly children: Map<string, Node>
  /** Whether the change shows in the folder's own time; a rename leaves it alone. */
  touched: boolean
}

/** The whole of a tree being edited, which several views of it share. */
interface Top {
  /** The root this edit began with. */
  readonly before: DirId
  root: Node
}

/** What an edit made of a tree. */
export interface EditedTree extends Totals {
  readonly before: DirId
  readonly root: DirId
  readonly dirCount: number
  /** Files and folders of the whole tree, and how many there were before. */
  readonly entries: number
  readonly entriesBefore: number
  readonly objects: readonly PreparedObject[]
  /** What differs, as `diffTrees` would find it `withFolders`, if the edit can tell. */
  readonly changes: readonly Change[] | undefined
}

/** Where a tree being edited finds its dirs, and leaves the ones it makes. */
export interface TreeSource {
  readonly objects: ObjectStore
  readonly libraryKey: number
  readonly pending: PendingDirs
}

/** One folder of a tree being edited. */
export interface WorkingFolder {
  find(name: string): Dirent | undefined
  /** Adds an entry, or replaces the one of that name. */
  put(dirent: Dirent): void
}

/** Dirs made by edits whose transaction is still to come. */
export class PendingDirs {
  readonly #dirs = new Map<string, StoredDir>()
  readonly #superseded = new Set<string>()
  /** Bytes they take in memory. */
  weight = 0

  get(id: string): StoredDir | undefined {
    return this.#dirs.get(id)
  }

  add(stored: StoredDir, insteadOf: StoredDir): void {
    if (!this.#dirs.has(stored.dir.id)) this.weight += stored.dir.weight
    this.#dirs.set(stored.dir.id, stored)
    this.#superseded.add(insteadOf.dir.id)
    this.#superseded.delete(stored.dir.id)
  }

  /** Those that no later edit made anew: what the next edit will ask for. */
  *latest(): Generator<StoredDir> {
    for (const [id, stored] of this.#dirs) if (!this.#superseded.has(id)) yield stored
  }
}

/**
 * A tree being edited. Dirs are values: nothing is changed in place, and the dirs along the
 * edited paths are made anew when the edit is done.
 */
export class WorkingTree {
  readonly #objects: ObjectStore
  readonly #libraryKey: number
  readonly #pending: PendingDirs
  readonly #now: number
  /** The names on the way to the folder whose tree this is; none for the whole. */
  readonly #base: readonly string[]
  readonly #top: Top

  private constructor(source: TreeSource, now: number, top: Top, base: readonly string[]) {
    this.#objects = source.objects
    this.#libraryKey = source.libraryKey
    this.#pending = source.pending
    this.#now = now
    this.#top = top
    this.#base = base
  }

  static async open(source: TreeSource, root: DirId, now: number): Promise<WorkingTree> {
    const { objects, libraryKey, pending } = source
    const stored = pending.get(root) ?? (await objects.getDir(libraryKey, root))
    return new WorkingTree(source, now, { before: stored.dir.id, root: node(stored) }, [])
  }

  /** The same tree, as far as it is below a folder; nothing above can be reached through it. Undefined if there is no such folder. */
  async below(folder: LibraryPath): Promise<WorkingTree | undefined> {
    const source = { objects: this.#objects, libraryKey: this.#libraryKey, pending: this.#pending }
    const tree = new WorkingTree(source, this.#now, this.#top, [...this.#base, ...segmentsOf(folder)])
    return (await tree.hasDir(ROOT)) ? tree : undefined
  }

  /** The time of this edit, Unix seconds. */
  get now(): number {
    return this.#now
  }

  /** The root as it is before this edit changes anything. */
  async rootId(): Promise<DirId> {
    return (await this.#get(ROOT)).stored.dir.id
  }

  /** The entry at a path; the root has none. */
  async find(path: LibraryPath): Promise<Dirent | undefined> {
    const names = segmentsOf(path)
    const last = names.pop()
    if (last === undefined) return undefined
    const parent = await this.#descend(names)
    return parent && entryOf(parent, last)
  }

  async hasDir(path: LibraryPath): Promise<boolean> {
    return (await this.#descend(segmentsOf(path))) !== undefined
  }

  /** A name that is free in a folder: the wanted one, or with ` (n)`. Throws path-not-found. */
  async freeNameIn(parent: LibraryPath, wanted: string): Promise<string> {
    const into = await this.#get(parent)
    return freeName(wanted, (name) => entryOf(into, name) !== undefined)
  }

  /** As freeNameIn, with the number behind the whole name, as a folder that is restored gets it. */
  async freeWholeNameIn(parent: LibraryPath, wanted: string): Promise<string> {
    const into = await this.#get(parent)
    return freeWholeName(wanted, (name) => entryOf(into, name) !== undefined)
  }

  /** Puts another tree of this library in place of the whole; gives what is in it. Edits made so far are lost. */
  async replaceRoot(root: DirId): Promise<Totals> {
    const stored = await this.dirById(root)
    const name = this.#base.at(-1)
    if (name === undefined) {
      this.#top.root = node(stored)
      return stored
    }
    const parent = await this.#descendFrom(this.#top.root, this.#base.slice(0, -1))
    const entry = parent && entryOf(parent, name)
    if (parent === undefined || entry?.kind !== 'dir') {
      return fail({ code: 'path-not-found', path: ROOT, wanted: 'Folder' })
    }
    parent.children.delete(entry.name)
    parent.changes.set(entry.name, { ...entry, id: root, mtime: this.#now })
    parent.touched = true
    return stored
  }

  /**
   * As freeNameIn, for entries to be put together into a folder that may be missing: the names differ from
   * each other too. Throws too-many-names where numbers up to `most` are taken.
   */
  async freeNamesIn(parent: LibraryPath, wanted: readonly string[], most: number): Promise<string[]> {
    const into = await this.#descend(segmentsOf(parent))
    const chosen = new Set<string>()
    for (const name of wanted) {
      let tries = 0
      const free = freeName(name, (candidate) => {
        if (tries > most) fail({ code: 'too-many-names', name })
        tries += 1
        return chosen.has(candidate) || (into !== undefined && entryOf(into, candidate) !== undefined)
      })
      chosen.add(free)
    }
    return [...chosen]
  }

  /** Adds an entry, or replaces the one of that name. Throws path-not-found. */
  async put(parent: LibraryPath, dirent: Dirent, options: { touch?: boolean } = {}): Promise<void> {
    put(await this.#get(parent), dirent, options.touch)
  }

  /** A folder whose own entries are then found and put without waiting. Throws path-not-found. */
  async folder(path: LibraryPath): Promise<WorkingFolder> {
    const into = await this.#get(path)
    return {
      find: (name) => entryOf(into, name),
      put: (dirent) => put(into, dirent),
    }
  }

  /** Takes an entry out and gives it back. Throws path-not-found. */
  async take(path: LibraryPath, options: { touch?: boolean } = {}): Promise<Dirent> {
    const from = await this.#get(parentOf(path))
    const dirent = entryOf(from, baseName(path))
    if (dirent === undefined) return fail({ code: 'path-not-found', path, wanted: 'Item' })
    from.children.delete(dirent.name)
    from.changes.set(dirent.name, null)
    if (options.touch !== false) from.touched = true
    return dirent
  }

  /**
   * Makes the folders of a path that are missing, all or none. Throws path-not-found where a file is in
   * the way, name-invalid where a missing one may not be called so or the path is too long; `restored` folders
   * may be called what they were called before.
   */
  async makeDirs(path: LibraryPath, options: { restored?: boolean } = {}): Promise<LibraryPath[]> {
    const made: LibraryPath[] = []
    let at = await this.#get(ROOT)
    let here = ROOT
    const names = segmentsOf(path)
    for (const [index, name] of names.entries()) {
      const entry = entryOf(at, name)
      const below = joinPath(here, entry?.name ?? name)
      if (entry === undefined) {
        // Below what is missing everything is missing: nothing has been made so far.
        if (made.length === 0 && !options.restored) refuseBadNames(path, names.slice(index))
        at.changes.set(name, dirDirent({ id: EMPTY_ID, name, mtime: this.#now }))
        at.touched = true
        made.push(below)
      } else if (entry.kind !== 'dir') {
        fail({ code: 'path-not-found', path: below, wanted: 'Folder' })
      }
      at = await this.#child(at, entry?.name ?? name)
      here = below
    }
    return made
  }

  /** The new root and the dirs to store; undefined if the edit changed nothing. */
  async finish(): Promise<EditedTree | undefined> {
    const objects: PreparedObject[] = []
    const { before, root } = this.#top
    const stored = await this.#settle(root, objects)
    if (stored.dir.id === before) return undefined
    const changes = root.stored.dir.id === before ? await changesOf(root) : undefined
    const { size, fileCount } = stored
    const dirCount = await this.#dirCountOf(stored)
    const was = await this.dirById(before)
    const entriesBefore = was.fileCount + (await this.#dirCountOf(was))
    const totals = { size, fileCount, dirCount, entries: fileCount + dirCount, entriesBefore }
    return { before, root: stored.dir.id, ...totals, objects, changes }
  }

  async #settle(node: Node, objects: PreparedObject[], depth = 1): Promise<StoredDir> {
    // A path may have thousands of levels: others get their turn (I10), and the call stack begins anew.
    if (depth % LEVELS_A_TURN === 0) await nextTurn()
    const pace = new TimeSlicer()
    for (const [name, child] of node.children) {
      if (pace.isDue) await pace.rest()
      const settled = await this.#settle(child, objects, depth + 1)
      if (child.touched) node.touched = true
      const entry = entryOf(node, name)
      if (entry?.kind !== 'dir' || settled.dir.id === entry.id) continue
      node.changes.set(name, { ...entry, id: settled.dir.id, mtime: child.touched ? this.#now : entry.mtime })
    }
    const before = node.stored
    if (node.changes.size === 0) return before
    const dir = before.dir.with(node.changes)
    if (pace.isDue) await pace.rest()
    if (dir.id === before.dir.id) return before
    if (pace.isDue) await pace.rest()
    const totals = await this.#totals(before, node.changes)
    if (pace.isDue) await pace.rest()
    if (dir.size === 0) return this.dirById(EMPTY_ID)
    const { object, stored } = prepareDir(dir, totals, before.dir.size > 0 ? before : undefined, node.changes)
    objects.push(object)
    this.#pending.add(stored, before)
    if (pace.isDue) await pace.rest()
    return stored
  }

  async #totals(before: StoredDir, changes: ReadonlyMap<string, Dirent | null>): Promise<Totals> {
    let { size, fileCount } = before
    let dirCount = await this.#dirCountOf(before)
    const pace = new TimeSlicer()
    for (const [name, dirent] of changes) {
      if (pace.isDue) await pace.rest()
      const old = before.dir.find(name)
      const less = old && (old.kind === 'file' ? totalsOfFile(old) : await this.totalsOf(old))
      const more = dirent && (dirent.kind === 'file' ? totalsOfFile(dirent) : await this.totalsOf(dirent))
      size += (more?.size ?? 0) - (less?.size ?? 0)
      fileCount += (more?.fileCount ?? 0) - (less?.fileCount ?? 0)
      if (old?.kind === 'dir') dirCount -= 1 + (await this.#dirCountBelow(old, less))
      if (dirent?.kind === 'dir') dirCount += 1 + (await this.#dirCountBelow(dirent, more))
    }
    return { size, fileCount, dirCount }
  }

  /** Bytes and files below an entry of this tree, which edits before this one may have made a moment ago. */
  async totalsOf(dirent: Dirent): Promise<Totals> {
    return this.#pending.get(dirent.id) ?? (await this.#objects.totalsOf(this.#libraryKey, dirent))
  }

  /** Rows of older versions do not say it. */
  #dirCountOf({ dir, dirCount }: StoredDir): number | Promise<number> {
    return dirCount ?? countDirs(this.#objects, this.#libraryKey, dir.id)
  }

  #dirCountBelow({ id }: DirDirent, totals: Totals | null | undefined): number | Promise<number> {
    return totals?.dirCount ?? countDirs(this.#objects, this.#libraryKey, id)
  }

  /** A dir of this library, which an edit before this one may have made a moment ago. */
  dirById(id: DirId): StoredDir | Promise<StoredDir> {
    return this.#pending.get(id) ?? this.#objects.getDir(this.#libraryKey, id)
  }

  async #get(path: LibraryPath): Promise<Node> {
    return (await this.#descend(segmentsOf(path))) ?? fail({ code: 'path-not-found', path, wanted: 'Folder' })
  }

  #descend(names: readonly string[]): Node | undefined | Promise<Node | undefined> {
    return this.#descendFrom(this.#top.root, this.#base.length === 0 ? names : [...this.#base, ...names])
  }

  /** Not a promise when the dirs on the way are cached. */
  #descendFrom(top: Node, names: readonly string[]): Node | undefined | Promise<Node | undefined> {
    let at = top
    for (const [index, name] of names.entries()) {
      const entry = entryOf(at, name)
      if (entry?.kind !== 'dir') return undefined
      const child = this.#child(at, entry.name)
      if (child instanceof Promise) return this.#descendLater(child, names.slice(index + 1))
      at = child
    }
    return at
  }

  async #descendLater(loading: Promise<Node>, names: readonly string[]): Promise<Node | undefined> {
    return this.#descendFrom(await loading, names)
  }

  #child(parent: Node, name: string): Node | Promise<Node> {
    const known = parent.children.get(name)
    if (known !== undefined) return known
    const entry = entryOf(parent, name)
    const adopt = (stored: StoredDir) => {
      const child = node(stored)
      parent.children.set(name, child)
      return child
    }
    const stored = this.dirById(entry?.kind === 'dir' ? entry.id : EMPTY_ID)
    return stored instanceof Promise ? stored.then(adopt) : adopt(stored)
  }
}

function refuseBadNames(path: LibraryPath, names: readonly string[]): void {
  const name = path.length > LONGEST_NEW_PATH ? path : names.find((one) => parseName(one) === undefined)
  if (name !== undefined) fail({ code: 'name-invalid', name })
}

function totalsOfFile({ size }: Dirent): Totals {
  return { size, fileCount: 1, dirCount: 0 }
}

function put(into: Node, dirent: Dirent, touch = true): void {
  into.children.delete(dirent.name)
  into.changes.set(dirent.name, dirent)
  if (touch) into.touched = true
}

function node(stored: StoredDir): Node {
  return { stored, changes: new Map(), children: new Map(), touched: false }
}

function entryOf(node: Node, name: string): Dirent | undefined {
  const changed = node.changes.get(name)
  if (changed !== undefined) return changed ?? undefined
  const stored = node.stored.dir.resolve(name)
  // A name may resolve to an entry in another normal form, which this edit may have taken out.
  return stored !== undefined && node.changes.get(stored.name) === null ? undefined : stored
}
