import {
  Dir,
  type DirDirent,
  type Dirent,
  type DirId,
  EMPTY_ID,
  type FileDirent,
} from '../../base/objects/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { type ObjectStore, type PreparedObject, prepareDir, type Totals } from '../tree/index.ts'
import { type Content, type ContentStore, insertContents } from './content.ts'
import type { OnStep } from './copy-objects.ts'
import type { DataKey } from './data-key.ts'

// Limits of one transaction, which takes a few milliseconds (I10).
const ROWS_PER_STEP = 250
const BYTES_PER_STEP = 1 << 20
/** Bytes of one file between checks for cancellation. */
const BYTES_BETWEEN_STEPS = 32 * 2 ** 20

interface Stores {
  readonly db: Database
  readonly objects: ObjectStore
  readonly content: ContentStore
}

/** The source or target library and its data key. */
interface CryptSide {
  readonly libraryKey: number
  readonly key: DataKey | undefined
}

interface Rewritten extends Totals {
  readonly id: DirId
  readonly dirCount: number
}

/**
 * As copyObjects, for libraries with different encryption: content is decrypted with one key and encrypted with the other, so files
 * and dirs get new ids. Returns the entries of the target.
 */
export async function reencrypt(
  stores: Stores,
  from: CryptSide,
  to: CryptSide,
  entries: readonly Dirent[],
  onStep: OnStep = async () => {},
): Promise<Dirent[]> {
  // Leased for the whole copy, which may outlast the lifetime of the keys.
  using _reading = from.key?.lease()
  using _writing = to.key?.lease()
  const rewriting = new Rewriting(stores, from, to, onStep)
  const arrived: Dirent[] = []
  for (const entry of entries) arrived.push(await rewriting.entry(entry))
  await rewriting.store()
  return arrived
}

class Rewriting {
  readonly #stores: Stores
  readonly #from: CryptSide
  readonly #to: CryptSide
  readonly #onStep: OnStep
  readonly #done = new Map<DirId, Rewritten>()
  readonly #slicer = new TimeSlicer()
  #files = 0
  #contents: Content[] = []
  #dirs: PreparedObject[] = []
  #bytes = 0

  constructor(stores: Stores, from: CryptSide, to: CryptSide, onStep: OnStep) {
    this.#stores = stores
    this.#from = from
    this.#to = to
    this.#onStep = onStep
  }

  async entry(entry: Dirent): Promise<Dirent> {
    if (entry.kind === 'file') return this.#file(entry)
    return { ...entry, id: (await this.#dir(entry)).id }
  }

  /** Writes the rows since the last step. A dir is never written before its content (I1). */
  async store(): Promise<void> {
    const [contents, dirs] = [this.#contents, this.#dirs]
    this.#contents = []
    this.#dirs = []
    this.#bytes = 0
    const write = async (tx: Transaction) => {
      await insertContents(tx, this.#to.libraryKey, contents, dirs)
      await this.#onStep(tx, this.#files)
    }
    // The commit that refers to them relies on them.
    await this.#stores.db.write(write, { durable: 'replicated' })
  }

  async #dir({ id }: DirDirent): Promise<Rewritten> {
    if (id === EMPTY_ID) return { id, size: 0, fileCount: 0, dirCount: 0 }
    const known = this.#done.get(id)
    if (known !== undefined) {
      this.#files += known.fileCount
      return known
    }
    const stored = await this.#stores.objects.getDir(this.#from.libraryKey, id)
    const entries: Dirent[] = []
    let size = 0
    let fileCount = 0
    let dirCount = 0
    for (const entry of stored.dir.entries) {
      if (entry.kind === 'file') {
        const file = await this.#file(entry)
        entries.push(file)
        size += file.size
        fileCount += 1
      } else {
        const below = await this.#dir(entry)
        entries.push({ ...entry, id: below.id })
        size += below.size
        fileCount += below.fileCount
        dirCount += 1 + below.dirCount
      }
    }
    // The names are unchanged, so the order is, too.
    const dir = Dir.fromSorted(entries)
    const { object } = prepareDir(dir, { size, fileCount, dirCount }, undefined, new Map())
    this.#dirs.push(object)
    const rewritten = { id: dir.id, size, fileCount, dirCount }
    this.#done.set(id, rewritten)
    await this.#stepIfFull(object.data.length)
    return rewritten
  }

  async #file(entry: FileDirent): Promise<FileDirent> {
    if (this.#slicer.isDue) await this.#slicer.rest()
    if (entry.id === EMPTY_ID) {
      this.#files += 1
      return entry
    }
    const { libraryKey, key } = this.#from
    const file = await this.#stores.objects.getFile(libraryKey, entry.id)
    const source = this.#cancellable(this.#stores.content.read(libraryKey, file, undefined, key))
    const content = await this.#stores.content.receive(source, { key: this.#to.key })
    this.#contents.push(content)
    this.#files += 1
    let smallBytes = 0
    for (const bytes of content.small.values()) smallBytes += bytes.length
    await this.#stepIfFull(smallBytes)
    return { ...entry, id: content.id, size: content.size }
  }

  async #stepIfFull(bytes: number): Promise<void> {
    this.#bytes += bytes
    const rows = this.#contents.length + this.#dirs.length
    if (rows >= ROWS_PER_STEP || this.#bytes >= BYTES_PER_STEP) await this.store()
  }

  /** The bytes of a file, with checks for cancellation in between. */
  async *#cancellable(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    let since = 0
    for await (const chunk of chunks) {
      yield chunk
      since += chunk.length
      if (since < BYTES_BETWEEN_STEPS) continue
      since = 0
      await this.store()
    }
  }
}
