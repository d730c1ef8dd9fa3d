import type { BlockId, Dirent, DirId, FileId, FileObject } from '../../base/objects/index.ts'
import type { BorrowedBytes, ByteRange } from '../../platform/storage/index.ts'
import type { ContentStore, DataKey, StoredBytes } from '../content/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { type ObjectStore, type StoredDir, type Totals, Tree } from '../tree/index.ts'
import type { Views } from '../views/index.ts'

/** The stores that the content of a library is read from. */
interface ContentStores {
  readonly objects: ObjectStore
  readonly content: ContentStore
  readonly views: Views
}

/**
 * The dirs, files and blocks of one library. A handle has it, so whoever reads has shown a right to the library (I8); an id grants nothing (I7).
 * Objects are those of the origin, of which a view shows a part. `findShownFile` is for an id that a client sent.
 */
export class LibraryContent {
  readonly #stores: ContentStores
  readonly #library: LibraryInfo

  constructor(stores: ContentStores, library: LibraryInfo) {
    this.#stores = stores
    this.#library = library
  }

  /** The tree with another root. */
  tree(root: DirId): Tree {
    const { key, rootDir } = this.#library
    return new Tree(this.#stores.objects, key, root, rootDir)
  }

  /** See `ObjectStore.getDir`. */
  getDir(id: DirId): StoredDir | Promise<StoredDir> {
    return this.#stores.objects.getDir(this.#library.key, id)
  }

  /** For an untrusted id. */
  findDir(id: DirId): Promise<StoredDir | undefined> {
    return this.#stores.objects.findDir(this.#library.key, id)
  }

  getFile(id: FileId): Promise<FileObject> {
    return this.#stores.objects.getFile(this.#library.key, id)
  }

  /** For an untrusted id. Undefined also for a file that a view does not show. */
  async findShownFile(id: FileId): Promise<FileObject | undefined> {
    const { objects, views } = this.#stores
    const file = await objects.findFile(this.#library.key, id)
    return file !== undefined && (await views.containsFile(this.#library, id)) ? file : undefined
  }

  /** Bytes, files and folders below an entry, without walking it. */
  totalsOf(entry: Dirent): Promise<Totals> {
    return this.#stores.objects.totalsOf(this.#library.key, entry)
  }

  /** See `ContentStore.open`. */
  open(id: FileId, key?: DataKey): Promise<StoredBytes> {
    return this.#stores.content.open(this.#library.key, id, key)
  }

  /** See `ContentStore.openBlock`. */
  openBlock(id: BlockId): Promise<StoredBytes> {
    return this.#stores.content.openBlock(this.#library.key, id)
  }

  /** See `ContentStore.read`. */
  read(file: FileObject, range?: ByteRange, key?: DataKey): AsyncGenerator<Buffer, void> {
    return this.#stores.content.read(this.#library.key, file, range, key)
  }

  /** See `ContentStore.readWhole`. */
  readWhole(file: FileObject, key?: DataKey): Promise<BorrowedBytes> {
    return this.#stores.content.readWhole(this.#library.key, file, key)
  }
}
