import { fail } from '../errors.ts'
import type { DirDirent, Dirent } from '../objects/dirent.ts'
import type { DirId } from '../objects/ids.ts'
import { type LibraryPath, segmentsOf } from '../objects/paths.ts'
import type { StoredDir } from './dir-cache.ts'
import type { ObjectStore } from './object-store.ts'

/** The tree of one commit, to look at. It never changes. */
export class Tree {
  readonly #objects: ObjectStore
  readonly #libraryKey: number
  readonly root: DirId

  constructor(objects: ObjectStore, libraryKey: number, root: DirId) {
    this.#objects = objects
    this.#libraryKey = libraryKey
    this.root = root
  }

  /** The entry at a path; the root has none. */
  async find(path: LibraryPath): Promise<Dirent | undefined> {
    const names = segmentsOf(path)
    const last = names.pop()
    if (last === undefined) return undefined
    const parent = await this.#walk(names)
    return parent?.dir.resolve(last)
  }

  async findDir(path: LibraryPath): Promise<StoredDir | undefined> {
    return await this.#walk(segmentsOf(path))
  }

  /** Throws path-not-found. */
  async getDir(path: LibraryPath): Promise<StoredDir> {
    return (await this.findDir(path)) ?? fail({ code: 'path-not-found', path, wanted: 'Folder' })
  }

  /** Throws path-not-found, for a folder too. */
  async getFile(path: LibraryPath): Promise<Dirent> {
    const found = await this.find(path)
    return found?.kind === 'file' ? found : fail({ code: 'path-not-found', path, wanted: 'File' })
  }

  /** A dir of this tree by its id. */
  dirOf(dirent: DirDirent): StoredDir | Promise<StoredDir> {
    return this.#objects.getDir(this.#libraryKey, dirent.id)
  }

  async #walk(names: readonly string[]): Promise<StoredDir | undefined> {
    let found = this.#objects.getDir(this.#libraryKey, this.root)
    let stored = found instanceof Promise ? await found : found
    for (const name of names) {
      const next = stored.dir.resolve(name)
      if (next?.kind !== 'dir') return undefined
      found = this.#objects.getDir(this.#libraryKey, next.id)
      stored = found instanceof Promise ? await found : found
    }
    return stored
  }
}
