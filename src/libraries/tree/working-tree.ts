import { setImmediate as nextTurn } from 'node:timers/promises'
import { fail } from '../../base/errors.ts'
import { type DirDirent, type Dirent, type DirId, dirDirent, EMPTY_ID } from '../../base/objects/index.ts'
import {
  baseName,
  freeName,
  freeWholeName,
  joinPath,
  type LibraryPath,
  parentOf,
  parseName,
  ROOT,
  segmentsOf,
} from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Change } from './diff.ts'
import type { StoredDir } from './dir-cache.ts'
import { countDirs } from './dir-counts.ts'
import { changesOf } from './edited-changes.ts'
import { type ObjectStore, type PreparedObject, prepareDir, type Totals } from './object-store.ts'
import { dirOfFile } from './tree.ts'

const LEVELS_PER_TURN = 256
/** Maximum characters of a path whose missing folders are created. */
const MAX_NEW_PATH_LENGTH = 4096

/** One dir of a tree being edited: its stored state and its changes. */
interface Node {
  stored: StoredDir
  readonly changes: Map<string, Dirent | null>
  readonly children: Map<string, Node>
  /** Whether the edit sets the mtime of the folder. A rename of the folder does not. */
  touched: boolean
}

/** The whole tree being edited, shared by the WorkingTrees of its folders. */
interface Top {
  /** The root before this edit. */
  readonly before: DirId
  root: Node
}

/** The result of an edit. */
export interface EditedTree extends Totals {
  readonly before: DirId
  readonly root: DirId
  readonly dirCount: number
  /** Number of files and folders of the whole tree, after and before the edit. */
  readonly entries: number
  readonly entriesBefore: number
  readonly objects: readonly PreparedObject[]
  /** The result of `diffTrees` with `withFolders`, if the edit determines it. */
  readonly changes: readonly Change[] | undefined
}

/** Where a working tree reads its dirs and puts the new ones. */
interface TreeSource {
  readonly objects: ObjectStore
  readonly libraryKey: number
  readonly pending: PendingDirs
}

/** One folder of a tree being edited. */
interface WorkingFolder {
  find(name: string): Dirent | undefined
  /** Adds an entry, or replaces the one with that name. */
  put(dirent: Dirent): void
}

/** Dirs created by edits that are not committed yet. */
export class PendingDirs {
  readonly #dirs = new Map<string, StoredDir>()
  readonly #superseded = new Set<string>()
  /** Their size in memory in bytes. */
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

  /** The dirs that no later edit superseded. The next edit will read them. */
  *latest(): Generator<StoredDir> {
    for (const [id, stored] of this.#dirs) if (!this.#superseded.has(id)) yield stored
  }
}

/**
 * A tree being edited. Dirs are immutable: `finish` creates new dirs along the edited
 * paths.
 */
export class WorkingTree {
  readonly #objects: ObjectStore
  readonly #libraryKey: number
  readonly #pending: PendingDirs
  readonly #now: number
  /** Path segments of the folder this tree is restricted to; empty for the whole tree. */
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

  /** The same tree restricted to a folder: nothing outside can be reached through it. Undefined if there is no such folder. */
  async below(folder: LibraryPath): Promise<WorkingTree | undefined> {
    const source = { objects: this.#objects, libraryKey: this.#libraryKey, pending: this.#pending }
    const tree = new WorkingTree(source, this.#now, this.#top, [...this.#base, ...segmentsOf(folder)])
    return (await tree.hasDir(ROOT)) ? tree : undefined
  }

  /**
   * One file of this tree as a tree of its own, whose changes `replaceFile` takes over. Nothing else can be reached
   * through it. Undefined if there is no such file.
   */
  async ofFile(path: LibraryPath): Promise<WorkingTree | undefined> {
    const file = await this.find(path)
    if (file?.kind !== 'file') return undefined
    const source = { objects: this.#objects, libraryKey: this.#libraryKey, pending: this.#pending }
    const stored = dirOfFile(file)
    return new WorkingTree(source, this.#now, { before: stored.dir.id, root: node(stored) }, [])
  }

  /**
   * Takes over the new content of a file from a tree of `ofFile`. Throws permission-denied if that tree was changed in
   * any other way: the file is the only thing its holder may change.
   */
  async replaceFile(path: LibraryPath, edited: WorkingTree): Promise<void> {
    const { stored, changes } = edited.#top.root
    const file = stored.dir.entries[0]
    const [now, ...others] = stored.dir.with(changes).entries
    const isSameFile = now?.kind === 'file' && file !== undefined && now.name === file.name
    if (!isSameFile || others.length > 0 || stored.dir.id !== edited.#top.before) {
      return fail({ code: 'permission-denied' })
    }
    if (now.id !== file.id || now.mtime !== file.mtime) await this.put(parentOf(path), now)
  }

  /** The time of this edit, Unix seconds. */
  get now(): number {
    return this.#now
  }

  /** The id of the root before the changes of this edit. */
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

  /** A free name in a folder: the wanted one, or with ` (n)`. Throws path-not-found. */
  async freeNameIn(parent: LibraryPath, wanted: string): Promise<string> {
    const into = await this.#get(parent)
    return freeName(wanted, (name) => entryOf(into, name) !== undefined)
  }

  /** As freeNameIn, with the number after the whole name, for restored folders. */
  async freeWholeNameIn(parent: LibraryPath, wanted: string): Promise<string> {
    const into = await this.#get(parent)
    return freeWholeName(wanted, (name) => entryOf(into, name) !== undefined)
  }

  /** Replaces the whole tree by another tree of this library and returns its totals. Discards edits made so far. */
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
   * As freeNameIn, for several entries of a folder that may be missing. The names also differ from each other. Throws
   * too-many-names if all numbers up to `most` are taken.
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

  /** Adds an entry, or replaces the one with that name. Throws path-not-found. */
  async put(parent: LibraryPath, dirent: Dirent, options: { touch?: boolean } = {}): Promise<void> {
    put(await this.#get(parent), dirent, options.touch)
  }

  /** Synchronous access to the entries of a folder. Throws path-not-found. */
  async folder(path: LibraryPath): Promise<WorkingFolder> {
    const into = await this.#get(path)
    return {
      find: (name) => entryOf(into, name),
      put: (dirent) => put(into, dirent),
    }
  }

  /** Removes an entry and returns it. Throws path-not-found. */
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
   * Creates the missing folders of a path, all or none. Throws path-not-found if a component is a file, name-invalid if a missing
   * folder has an invalid name or the path is too long. `restored` folders may keep names that are not valid today.
   */
  async makeDirs(path: LibraryPath, options: { restored?: boolean } = {}): Promise<LibraryPath[]> {
    const created: LibraryPath[] = []
    let at = await this.#get(ROOT)
    let here = ROOT
    const names = segmentsOf(path)
    for (const [index, name] of names.entries()) {
      const entry = entryOf(at, name)
      const below = joinPath(here, entry?.name ?? name)
      if (entry === undefined) {
        // Checked at the first missing folder, before any is created. All folders below it are missing, too.
        if (created.length === 0 && !options.restored) rejectInvalidNames(path, names.slice(index))
        at.changes.set(name, dirDirent({ id: EMPTY_ID, name, mtime: this.#now }))
        at.touched = true
        created.push(below)
      } else if (entry.kind !== 'dir') {
        fail({ code: 'path-not-found', path: below, wanted: 'Folder' })
      }
      at = await this.#child(at, entry?.name ?? name)
      here = below
    }
    return created
  }

  /** The new root and the dirs to store; undefined if the edit changed nothing. */
  async finish(): Promise<EditedTree | undefined> {
    const objects: PreparedObject[] = []
    const { before, root } = this.#top
    const stored = await this.#store(root, objects)
    if (stored.dir.id === before) return undefined
    const changes = root.stored.dir.id === before ? await changesOf(root) : undefined
    const { size, fileCount } = stored
    const dirCount = await this.#dirCountOf(stored)
    const was = await this.dirById(before)
    const entriesBefore = was.fileCount + (await this.#dirCountOf(was))
    const totals = { size, fileCount, dirCount, entries: fileCount + dirCount, entriesBefore }
    return { before, root: stored.dir.id, ...totals, objects, changes }
  }

  async #store(node: Node, objects: PreparedObject[], depth = 1): Promise<StoredDir> {
    // A path may have thousands of levels: yields to the event loop (I10), which also unwinds the call stack.
    if (depth % LEVELS_PER_TURN === 0) await nextTurn()
    const slicer = new TimeSlicer()
    for (const [name, child] of node.children) {
      if (slicer.isDue) await slicer.rest()
      const storedChild = await this.#store(child, objects, depth + 1)
      if (child.touched) node.touched = true
      const entry = entryOf(node, name)
      if (entry?.kind !== 'dir' || storedChild.dir.id === entry.id) continue
      node.changes.set(name, {
        ...entry,
        id: storedChild.dir.id,
        mtime: child.touched ? this.#now : entry.mtime,
      })
    }
    const before = node.stored
    if (node.changes.size === 0) return before
    const dir = before.dir.with(node.changes)
    if (slicer.isDue) await slicer.rest()
    if ((await slicer.through(dir.identify())) === before.dir.id) return before
    if (slicer.isDue) await slicer.rest()
    const totals = await this.#totals(before, node.changes)
    if (slicer.isDue) await slicer.rest()
    if (dir.size === 0) return this.dirById(EMPTY_ID)
    const { object, stored } = prepareDir(dir, totals, before.dir.size > 0 ? before : undefined, node.changes)
    objects.push(object)
    this.#pending.add(stored, before)
    if (slicer.isDue) await slicer.rest()
    return stored
  }

  async #totals(before: StoredDir, changes: ReadonlyMap<string, Dirent | null>): Promise<Totals> {
    let { size, fileCount } = before
    let dirCount = await this.#dirCountOf(before)
    const slicer = new TimeSlicer()
    for (const [name, dirent] of changes) {
      if (slicer.isDue) await slicer.rest()
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

  /** Bytes and files below an entry of this tree, including dirs of edits that are not committed yet. */
  async totalsOf(dirent: Dirent): Promise<Totals> {
    return this.#pending.get(dirent.id) ?? (await this.#objects.totalsOf(this.#libraryKey, dirent))
  }

  /** Counted if the row has no count. */
  #dirCountOf({ dir, dirCount }: StoredDir): number | Promise<number> {
    return dirCount ?? countDirs(this.#objects, this.#libraryKey, dir.id)
  }

  #dirCountBelow({ id }: DirDirent, totals: Totals | null | undefined): number | Promise<number> {
    return totals?.dirCount ?? countDirs(this.#objects, this.#libraryKey, id)
  }

  /** A dir of this library, including dirs of edits that are not committed yet. */
  dirById(id: DirId): StoredDir | Promise<StoredDir> {
    return this.#pending.get(id) ?? this.#objects.getDir(this.#libraryKey, id)
  }

  async #get(path: LibraryPath): Promise<Node> {
    return (await this.#descend(segmentsOf(path))) ?? fail({ code: 'path-not-found', path, wanted: 'Folder' })
  }

  #descend(names: readonly string[]): Node | undefined | Promise<Node | undefined> {
    return this.#descendFrom(this.#top.root, this.#base.length === 0 ? names : [...this.#base, ...names])
  }

  /** Not a promise if all dirs of the path are cached. */
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

function rejectInvalidNames(path: LibraryPath, names: readonly string[]): void {
  const name = path.length > MAX_NEW_PATH_LENGTH ? path : names.find((one) => parseName(one) === undefined)
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
  // A name may resolve to an entry in another normal form, which this edit may have removed.
  return stored !== undefined && node.changes.get(stored.name) === null ? undefined : stored
}
