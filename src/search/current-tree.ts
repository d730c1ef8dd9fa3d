import { findLibraryByKey } from '../commits/index.ts'
import type { Database } from '../database/index.ts'
import type { Dirent, LibraryPath } from '../objects/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import { type ObjectStore, Tree } from '../tree/index.ts'

/**
 * The current trees, to verify search hits: the index lags behind the commits and
 * may contain names, paths and texts that no longer exist.
 */
export class CurrentTrees {
  readonly #objects: ObjectStore
  readonly #libraryDb: Database
  readonly #trees = new Map<number, Tree | undefined>()
  readonly #slicer = new TimeSlicer()

  constructor({ objects, libraryDb }: { objects: ObjectStore; libraryDb: Database }) {
    this.#objects = objects
    this.#libraryDb = libraryDb
  }

  /** The current entry at a path; undefined if there is none, or the library was deleted. */
  async find(libraryKey: number, path: LibraryPath): Promise<Dirent | undefined> {
    if (!this.#trees.has(libraryKey)) this.#trees.set(libraryKey, await this.#head(libraryKey))
    if (this.#slicer.isDue) await this.#slicer.rest()
    return this.#trees.get(libraryKey)?.find(path)
  }

  async #head(libraryKey: number): Promise<Tree | undefined> {
    const library = await findLibraryByKey(this.#libraryDb, libraryKey)
    return library && new Tree(this.#objects, library.key, library.root)
  }
}
