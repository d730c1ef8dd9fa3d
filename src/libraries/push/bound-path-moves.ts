import { type Dirent, type DirId, EMPTY_ID } from '../../base/objects/index.ts'
import {
  baseName,
  joinPath,
  type LibraryPath,
  ROOT,
  segmentsOf,
  selfAndAbove,
} from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { EditConflict } from '../commits/index.ts'
import { type BoundPathMove, boundPaths } from '../edits/index.ts'
import { asSeen, type LibraryInfo, type PathBinding } from '../registry/index.ts'
import { type Change, Tree, type WorkingTree } from '../tree/index.ts'
import type { PushStores } from './push-stores.ts'

// A client sends trees, not renames. Rows bound to paths must follow their items, so renames are derived from
// the trees of all pushed commits, one commit after another. A file deleted in one commit and created again
// in the next is a different file.

/** The changes of one commit relative to its parent. */
export interface Step {
  readonly before: DirId
  readonly changes: readonly Change[]
}

/** A lock, star or link was added to a path of the library after the bound paths were read. */
export class BoundPathsChanged extends EditConflict {
  override name = 'BoundPathsChanged'
}

/** The new paths of bound rows after a push. */
export class BoundPathMoves {
  readonly #library: LibraryInfo
  /** All bound paths when they were read; undefined if the push removes nothing. */
  readonly #all: ReadonlySet<LibraryPath> | undefined
  /** Bound paths that the push affects, with their new paths; undefined for deleted items. */
  readonly #moved: ReadonlyMap<LibraryPath, LibraryPath | undefined>
  readonly #before = new Map<LibraryPath, Dirent | undefined>()

  readonly #bindings: readonly PathBinding[]

  private constructor(
    { pathBindings }: PushStores,
    library: LibraryInfo,
    all: ReadonlySet<LibraryPath> | undefined,
    moved: ReadonlyMap<LibraryPath, LibraryPath | undefined>,
  ) {
    this.#bindings = pathBindings
    this.#library = library
    this.#all = all
    this.#moved = moved
  }

  /** Call it before the push changes `tree`. */
  static async read(
    stores: PushStores,
    library: LibraryInfo,
    steps: readonly Step[],
    tree: WorkingTree,
  ): Promise<BoundPathMoves> {
    if (!steps.some(({ changes }) => changes.some(removesItem)))
      return new BoundPathMoves(stores, library, undefined, new Map())
    const bound = new Set(await boundPaths.list(stores.pathBindings, stores.db, library.key))
    const at = new Map<LibraryPath, LibraryPath | undefined>()
    for (const path of bound) {
      const seen = asSeen(library, path)
      if (seen !== undefined && seen !== ROOT) at.set(seen, seen)
    }
    for (const step of steps) await follow(stores, library, step, at)
    const moves = new BoundPathMoves(
      stores,
      library,
      bound,
      new Map([...at].filter(([path, to]) => path !== to)),
    )
    for (const path of moves.#moved.keys()) moves.#before.set(path, await tree.find(path))
    return moves
  }

  /**
   * The moves to write with the commit of `tree`. In a merge, the head may override a deletion or rename of
   * the client. Such a move is dropped.
   */
  async settle(
    tree: WorkingTree,
    { isMerge }: { isMerge: boolean },
  ): Promise<(tx: Transaction) => Promise<void>> {
    const moves: BoundPathMove[] = []
    for (const [from, to] of this.#moved) {
      const before = this.#before.get(from)
      if (isMerge && isSame(before, await tree.find(from))) continue
      const there = to === undefined ? undefined : await tree.find(to)
      moves.push({ from, to: there?.kind === before?.kind ? to : undefined })
    }
    const all = this.#all
    if (all === undefined) return async () => {}
    return async (tx) => {
      const now = await boundPaths.list(this.#bindings, tx, this.#library.key)
      if (now.some((path) => !all.has(path))) throw new BoundPathsChanged()
      await boundPaths.rebind(this.#bindings, tx, this.#library, moves)
    }
  }
}

function removesItem({ op }: Change): boolean {
  return op === 'deleted' || op === 'renamed'
}

function isSame(a: Dirent | undefined, b: Dirent | undefined): boolean {
  return a?.kind === b?.kind && a?.id === b?.id
}

/** Maps each path to its path after a step; undefined if the item was deleted. */
async function follow(
  stores: PushStores,
  library: LibraryInfo,
  { before, changes }: Step,
  at: Map<LibraryPath, LibraryPath | undefined>,
): Promise<void> {
  const targets = new Map<LibraryPath, LibraryPath | undefined>()
  for (const change of changes) {
    if (change.op === 'renamed') targets.set(change.path, change.newPath)
    else if (change.op === 'deleted') targets.set(change.path, undefined)
  }
  if (targets.size === 0) return
  const lost = new Map<LibraryPath, LibraryPath>()
  for (const [path, now] of at) {
    const root = now && selfAndAbove(now).find((one) => targets.has(one))
    if (now === undefined || root === undefined) continue
    const to = targets.get(root)
    at.set(path, to && (`${to}${now.slice(root.length)}` as LibraryPath))
    if (to === undefined) lost.set(path, now)
  }
  if (lost.size === 0) return
  const found = await findAdded(stores, library, new Tree(stores.objects, library.key, before), lost, changes)
  for (const [path, to] of found) at.set(path, to)
}

/**
 * Finds items moved out of a deleted folder or into a new one. Such a folder is a single change whatever it
 * contains, so its items are matched by content.
 */
async function findAdded(
  stores: PushStores,
  library: LibraryInfo,
  before: Tree,
  lost: ReadonlyMap<LibraryPath, LibraryPath>,
  changes: readonly Change[],
): Promise<Map<LibraryPath, LibraryPath>> {
  const wanted = new Map<string, { path: LibraryPath; was: LibraryPath }[]>()
  for (const [path, was] of lost) {
    const entry = await before.find(was)
    // Empty files and folders cannot be distinguished by content.
    if (entry === undefined || entry.id === EMPTY_ID) continue
    const key = keyOf(entry)
    wanted.set(key, [...(wanted.get(key) ?? []), { path, was }])
  }
  const found = new Map<LibraryPath, LibraryPath>()
  if (wanted.size === 0) return found
  const slicer = new TimeSlicer()
  const open = changes.flatMap((change) => (change.op === 'added' ? [change] : [])) as Added[]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, entry } = next
    for (const one of wanted.get(keyOf(entry)) ?? []) {
      const other = found.get(one.path)
      if (other === undefined || commonSuffix(one.was, path) > commonSuffix(one.was, other))
        found.set(one.path, path)
    }
    if (entry.kind !== 'dir' || entry.id === EMPTY_ID) continue
    const { dir } = await stores.objects.getDir(library.key, entry.id)
    for (const below of dir.entries) open.push({ path: joinPath(path, below.name), entry: below })
    if (slicer.isDue) await slicer.rest()
  }
  return found
}

interface Added {
  readonly path: LibraryPath
  readonly entry: Dirent
}

function keyOf({ kind, id }: Dirent): string {
  return `${kind}:${id}`
}

/** Number of equal trailing segments of two paths. */
function commonSuffix(a: LibraryPath, b: LibraryPath): number {
  if (baseName(a) !== baseName(b)) return 0
  const [left, right] = [segmentsOf(a).toReversed(), segmentsOf(b).toReversed()]
  const differs = left.findIndex((name, index) => name !== right[index])
  return differs < 0 ? left.length : differs
}
