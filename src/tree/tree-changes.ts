import { type DirId, EMPTY_ID, type LibraryPath, parentOf } from '../objects/index.ts'
import { type Change, diffTrees, inOrder, isSameFile, TooManyChanges } from './diff.ts'
import type { ObjectStore } from './object-store.ts'

// Bounds the memory of what followers have not come to yet (I9).
const MOST_CHANGES = 20_000

/** What an edit of a library changed in the tree before it. */
interface Known {
  readonly libraryKey: number
  readonly before: DirId
  readonly changes: readonly Change[]
}

/**
 * What differs between trees. What an edit is known to have changed is remembered for a while, so that those who follow
 * commits need not each compare the trees. Trees never change, so nothing here can be stale, and what is forgotten
 * is found out again (I3).
 */
export class TreeChanges {
  readonly #objects: ObjectStore
  /** Most differences that are listed; undefined for no limit. */
  readonly #most: number | undefined
  /** By the tree after them; of those that lead to one tree the latest. */
  readonly #known = new Map<DirId, Known>()
  #count = 0

  constructor(objects: ObjectStore, most?: number) {
    this.#objects = objects
    this.#most = most
  }

  /** Caches what `diffTrees` would find, `withFolders`. */
  remember(libraryKey: number, before: DirId, after: DirId, changes: readonly Change[]): void {
    this.#forget(after)
    this.#known.set(after, { libraryKey, before, changes })
    this.#count += changes.length + 1
    if (this.#count <= MOST_CHANGES) return
    for (const oldest of this.#known.keys()) {
      this.#forget(oldest)
      if (this.#count <= MOST_CHANGES) return
    }
  }

  #forget(after: DirId): void {
    const known = this.#known.get(after)
    if (known === undefined) return
    this.#known.delete(after)
    this.#count -= known.changes.length + 1
  }

  #find(libraryKey: number, before: DirId, after: DirId): readonly Change[] | undefined {
    const known = this.#known.get(after)
    return known?.before === before && known.libraryKey === libraryKey ? known.changes : undefined
  }

  /** As diffTrees. Throws TooManyChanges. */
  async between(
    libraryKey: number,
    before: DirId,
    after: DirId,
    options: { withFolders?: boolean } = {},
  ): Promise<readonly Change[]> {
    const known = this.#find(libraryKey, before, after)
    if (known === undefined) {
      return diffTrees(this.#objects, libraryKey, before, after, { ...options, most: this.#most })
    }
    if (options.withFolders) return known
    return known.filter(({ op, entry }) => op !== 'modified' || entry.kind === 'file')
  }

  /** As between; none where there are too many to be listed, so that no follower is held up by them for good. */
  async listedBetween(libraryKey: number, before: DirId, after: DirId): Promise<readonly Change[]> {
    try {
      return await this.between(libraryKey, before, after)
    } catch (error) {
      if (error instanceof TooManyChanges) return []
      throw error
    }
  }

  /** What differs between the first and the last of trees that came after each other, `withFolders`. */
  async along(libraryKey: number, roots: readonly DirId[]): Promise<readonly Change[]> {
    const [first] = roots
    const last = roots.at(-1)
    if (first === undefined || last === undefined) return []
    return (
      (await this.knownAlong(libraryKey, roots)) ??
      this.between(libraryKey, first, last, { withFolders: true })
    )
  }

  /** As along, if the cache has it. */
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
    return sum(steps)
  }
}

/**
 * What several steps changed together; undefined if anything went, came with all that is in it, or moved. A folder that
 * came empty is one that came with all that is in it as soon as anything is put there.
 */
async function sum(steps: readonly (readonly Change[])[]): Promise<Change[] | undefined> {
  const [only, ...more] = steps
  if (only !== undefined && more.length === 0) return [...only]
  const summed = new Map<LibraryPath, Change>()
  const newFolders = new Set<LibraryPath>()
  for (const changes of steps) {
    for (const change of changes) {
      const { op, path, entry } = change
      const isSimple =
        op === 'modified' || (op === 'added' && (entry.kind === 'file' || entry.id === EMPTY_ID))
      if (!isSimple || newFolders.has(path) || newFolders.has(parentOf(path))) return undefined
      if (op === 'added' && entry.kind === 'dir') newFolders.add(path)
      const earlier = summed.get(path)
      if (earlier === undefined) summed.set(path, change)
      else if (op === 'modified') summed.set(path, { ...earlier, entry })
      else return undefined
    }
  }
  return inOrder([...summed.values()].filter(isChange))
}

/** Whether it is not as it was before after all. */
function isChange(change: Change): boolean {
  if (change.op !== 'modified') return true
  const { before, entry } = change
  return entry.kind === 'dir' ? before.mtime !== entry.mtime : !isSameFile(before, entry)
}
