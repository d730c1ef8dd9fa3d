import type { Dirent } from '../../base/objects/index.ts'
import { isWithin, type LibraryPath } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { storesOf } from '../../libraries/library/for-access.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import { Tree } from '../../libraries/tree/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Readable } from './readable.ts'

/**
 * The current trees of what a user may read, each read once. Indexes lag behind the commits: with this, what they found is compared with what there is
 * now, so that no name, path or text is disclosed that was deleted or moved out of the user's reach.
 */
export class CurrentTrees {
  readonly #core: LibraryCore
  readonly #db: Database
  readonly #trees = new Map<number, Tree | undefined>()
  readonly #slicer = new TimeSlicer()

  constructor(core: LibraryCore, db: Database) {
    this.#core = core
    this.#db = db
  }

  /**
   * The current entry at a path of the library that the content is in; undefined if there is none, if the path is outside of what the user may read, or if the library
   * was deleted.
   */
  async find({ libraryKey, base }: Readable, path: LibraryPath): Promise<Dirent | undefined> {
    if (this.#slicer.isDue) await this.#slicer.rest()
    if (!isWithin(path, base)) return undefined
    if (!this.#trees.has(libraryKey)) this.#trees.set(libraryKey, await this.#head(libraryKey))
    return this.#trees.get(libraryKey)?.find(path)
  }

  async #head(libraryKey: number): Promise<Tree | undefined> {
    const library = await libraryRows.findByKey(this.#db, libraryKey)
    return library && new Tree(storesOf(this.#core).objects, library.key, library.root)
  }
}
