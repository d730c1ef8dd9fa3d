import { type DirId, EMPTY_ID } from '../../base/objects/index.ts'
import { type LibraryPath, parentOf } from '../../base/paths/index.ts'
import { type Change, diffTrees, inOrder, isSameFile, TooManyChanges } from './diff.ts'
import type { ObjectStore } from './object-store.ts'

// Bounds the memory of cached changes (I9).
const MAX_CHANGES = 20_000

/** The changes of one edit of a library. */
interface Known {
  readonly libraryKey: number
  readonly before: DirId
  readonly changes: readonly Change[]
}

/**
 * Differences between trees, with a cache of the changes of recent edits, so that consumers of commits need not each compare the
 * trees. Trees are immutable, so entries are never invalidated. After eviction the changes are computed again (I3).
 */
export class TreeChanges {
  readonly #objects: ObjectStore
  /** Maximum number of listed differences; undefined for no limit. */
  readonly #most: number | undefined
  /** By the tree after the edit. If several edits lead to one tree, the latest. */
  readonly #cache = new Map<DirId, Known>()
  #count = 0

  constructor(objects: ObjectStore, most?: number) {
    this.#objects = objects
    this.#most = most
  }

  /** Caches the result of `diffTrees` with `withFolders`. */
  put(libraryKey: number, before: DirId, after: DirId, changes: readonly Change[]): void {
    this.#evict(after)
    this.#cache.set(after, { libraryKey, before, changes })
    this.#count += changes.length + 1
    if (this.#count <= MAX_CHANGES) return
    for (const oldest of this.#cache.keys()) {
      this.#evict(oldest)
      if (this.#count <= MAX_CHANGES) return
    }
  }

  #evict(after: DirId): void {
    const known = this.#cache.get(after)
    if (known === undefined) return
    this.#cache.delete(after)
    this.#count -= known.changes.length + 1
  }

  #find(libraryKey: number, before: DirId, after: DirId): readonly Change[] | undefined {
    const known = this.#cache.get(after)
    return known?.before === before && known.libraryKey === libraryKey ? known.changes : undefined
  }

  /** As diffTrees, with the limit given or that of all differences. Throws TooManyChanges. */
  async between(
    libraryKey: number,
    before: DirId,
    after: DirId,
    options: { withFolders?: boolean; most?: number } = {},
  ): Promise<readonly Change[]> {
    const known = this.#find(libraryKey, before, after)
    if (known === undefined) {
      return diffTrees(this.#objects, libraryKey, before, after, { most: this.#most, ...options })
    }
    if (options.withFolders) return known
    return known.filter(({ op, entry }) => op !== 'modified' || entry.kind === 'file')
  }

  /** As between, but an empty list for too many changes, so that they do not block a consumer permanently. */
  async listedBetween(libraryKey: number, before: DirId, after: DirId): Promise<readonly Change[]> {
    try {
      return await this.between(libraryKey, before, after)
    } catch (error) {
      if (error instanceof TooManyChanges) return []
      throw error
    }
  }

  /** The differences, `withFolders`, between the first and the last of consecutive trees. */
  async along(libraryKey: number, roots: readonly DirId[]): Promise<readonly Change[]> {
    const [first] = roots
    const last = roots.at(-1)
    if (first === undefined || last === undefined) return []
    return (
      (await this.knownAlong(libraryKey, roots)) ??
      this.between(libraryKey, first, last, { withFolders: true })
    )
  }

  /** As along, if all steps are cached. */
  async knownAlong(libraryKey: number, roots: readonly DirId[]): Promise<readonly Change[] | undefined> {
    const [first, ...others] = roots
    if (first === undefined || others.length === 0) return []
    const steps: (readonly Change[])[] = []
    let before = first
    for (const after of others) {
      const known = before === after ? [] : this.#find(libraryKey, before, after)
      if (known === undefined) return undefined
      steps.push(known)
      before = after
    }
    return combine(steps)
  }
}

/**
 * Combines the changes of several steps. Undefined if anything was deleted or moved, if a folder was added with content or
 * modified without a change in it, or if a file is again as it was: folders above it may not be. An empty folder counts as added
 * with content once something is put into it.
 */
async function combine(steps: readonly (readonly Change[])[]): Promise<Change[] | undefined> {
  const [only, ...more] = steps
  if (only !== undefined && more.length === 0) return [...only]
  const combined = new Map<LibraryPath, Change>()
  const newFolders = new Set<LibraryPath>()
  for (const changes of steps) {
    for (const change of changes) {
      const { op, path, entry } = change
      const isSimple =
        entry.kind === 'file' ? op === 'added' || op === 'modified' : op === 'added' && entry.id === EMPTY_ID
      if (!isSimple || newFolders.has(path) || newFolders.has(parentOf(path))) return undefined
      if (op === 'added' && entry.kind === 'dir') newFolders.add(path)
      const earlier = combined.get(path)
      if (earlier === undefined) combined.set(path, change)
      else if (op === 'modified') combined.set(path, { ...earlier, entry })
      else return undefined
    }
  }
  const all = [...combined.values()]
  const isUndone = all.some((change) => change.op === 'modified' && isSameFile(change.before, change.entry))
  return isUndone ? undefined : inOrder(all)
}
