import { fail } from '../../base/errors.ts'
import { Dir, type DirDirent, type Dirent, type DirId, type FileDirent } from '../../base/objects/index.ts'
import { type LibraryPath, segmentsOf } from '../../base/paths/index.ts'
import type { StoredDir } from './dir-cache.ts'
import type { ObjectStore } from './object-store.ts'

/** Read access to the tree of one commit, which is immutable. */
export class Tree {
  readonly #objects: ObjectStore
  readonly #libraryKey: number
  readonly root: DirId
  readonly #rootDir: StoredDir | undefined

  /** `rootDir` is the root if it is not stored. Its entries are. */
  constructor(objects: ObjectStore, libraryKey: number, root: DirId, rootDir?: StoredDir) {
    this.#objects = objects
    this.#libraryKey = libraryKey
    this.root = root
    this.#rootDir = rootDir
  }

  /** A tree with one file, which is an entry of a stored tree. */
  static ofFile(objects: ObjectStore, libraryKey: number, file: FileDirent): Tree {
    const rootDir = dirOfFile(file)
    return new Tree(objects, libraryKey, rootDir.dir.id, rootDir)
  }

  /** The entry at a path; the root has none. */
  async find(path: LibraryPath): Promise<Dirent | undefined> {
    const names = segmentsOf(path)
    const last = names.pop()
    if (last === undefined) return undefined
    const parent = await this.#walk(names)
    return parent?.dir.resolve(last)
  }

  /** Not a promise if all dirs of the path are cached. */
  findDir(path: LibraryPath): StoredDir | undefined | Promise<StoredDir | undefined> {
    return this.#walk(segmentsOf(path))
  }

  /** Throws path-not-found. */
  async getDir(path: LibraryPath): Promise<StoredDir> {
    return (await this.findDir(path)) ?? fail({ code: 'path-not-found', path, wanted: 'Folder' })
  }

  /** Throws path-not-found, also for a folder. */
  async getFile(path: LibraryPath): Promise<Dirent> {
    const found = await this.find(path)
    return found?.kind === 'file' ? found : fail({ code: 'path-not-found', path, wanted: 'File' })
  }

  /** A dir of this tree by its id. */
  dirOf(dirent: DirDirent): StoredDir | Promise<StoredDir> {
    return this.#getDir(dirent.id)
  }

  #getDir(id: DirId): StoredDir | Promise<StoredDir> {
    const rootDir = this.#rootDir
    return rootDir?.dir.id === id ? rootDir : this.#objects.getDir(this.#libraryKey, id)
  }

  #walk(
    names: readonly string[],
    from = 0,
    start = this.root,
  ): StoredDir | undefined | Promise<StoredDir | undefined> {
    let id = start
    for (let index = from; ; index++) {
      const stored = this.#getDir(id)
      if (stored instanceof Promise) return this.#walkLater(names, index, stored)
      const name = names[index]
      if (name === undefined) return stored
      const next = stored.dir.resolve(name)
      if (next?.kind !== 'dir') return undefined
      id = next.id
    }
  }

  async #walkLater(
    names: readonly string[],
    index: number,
    loading: Promise<StoredDir>,
  ): Promise<StoredDir | undefined> {
    const stored = await loading
    const name = names[index]
    if (name === undefined) return stored
    const next = stored.dir.resolve(name)
    return next?.kind === 'dir' ? this.#walk(names, index + 1, next.id) : undefined
  }
}

/** A dir with one file, as the root of a view of that file. */
export function dirOfFile(file: FileDirent): StoredDir {
  return { dir: Dir.of([file]), size: file.size, fileCount: 1, dirCount: 0, depth: 0 }
}
