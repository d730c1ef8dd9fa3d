import {
  type DirId,
  EMPTY_ID,
  type FileId,
  type FsId,
  idToBytes,
  type LibraryId,
} from '../../base/objects/index.ts'
import { unpackDir } from '../../base/packing/index.ts'
import { commitRows, receivedCommits } from '../../libraries/commits/index.ts'
import { condemnedBlocks } from '../../libraries/content/index.ts'
import { listReceivedAfter, listUncommittedAfter, type ReceivedObject } from '../../libraries/push/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import {
  condemnedObjects,
  FILE,
  listBlocksOf,
  ObjectMissing,
  readAdded,
  readFileRow,
} from '../../libraries/tree/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { IdList } from './id-list.ts'
import { IdSet } from './id-set.ts'

const ROWS_PER_STEP = 500
const FILES_PER_STEP = 256
const ID_BYTES = 20

/** Cooperative yield (I10), as in `TimeSlicer`. */
export interface Yielding {
  readonly isDue: boolean
  rest(): Promise<void>
}

/** Parameters of a mark. Copied to a side process. */
export interface MarkOptions {
  readonly libraryKey: number
  /** The oldest commit to keep. */
  readonly keptSeq: number
  /** Further dirs and files to keep: of views, tickets and tasks. They may be gone already. */
  readonly kept: readonly FsId[]
  /** Most ids in each list of the result; the rest is left to the next run. */
  readonly most: number
  /** Most ids of each kind in memory. More are moved to a temporary file. */
  readonly mostInMemory: number
}

/** Ids are concatenated, 20 bytes each. */
export interface Marked {
  /** Not condemned, and nothing reaches them. With depths, in the same order. */
  readonly unreachable: Uint8Array
  readonly depths: Int32Array
  /** Condemned, and in use again. */
  readonly released: Uint8Array
  /** Condemned, and still nothing reaches them. Deepest first. */
  readonly deletable: Uint8Array
  readonly unreachableReferences: Uint8Array
  readonly releasedReferences: Uint8Array
  readonly deletableReferences: Uint8Array
  /** Bytes of blocks whose reference is condemned or should be. */
  readonly referenceBytes: number
}

/**
 * Finds what the head, the kept commits and everything else a client may still ask for reach, and compares it with what the library
 * stores. Objects are immutable, so the walk needs no snapshot: the roots are read once, and what was stored since is read again at the end.
 */
export async function mark(
  reader: Reader,
  options: MarkOptions,
  yielding: Yielding,
): Promise<Marked | undefined> {
  using marking = new Mark(reader, options, yielding)
  // Received rows before the head: a push moves them from there to here.
  await marking.walkSent()
  await marking.walkKept()
  if (!(await marking.walkCommits(options.keptSeq))) return undefined
  await marking.walkYoung()
  await marking.walkSent()
  await marking.walkCommits(marking.headSeq + 1)
  // Awaited here: the sets are disposed of at the end.
  return await marking.compare()
}

class Mark implements Disposable {
  readonly #reader: Reader
  readonly #key: number
  readonly #options: MarkOptions
  readonly #yielding: Yielding
  /** Reached from the roots: dirs, files, blocks. */
  readonly #objects: IdSet
  readonly #blocks: IdSet
  /**
   * Reached only from objects that are not condemned and that no root reaches. They are condemned now, but what is below them stays
   * until they are: a writer that finds an object that is not condemned relies on everything below it.
   */
  readonly #youngObjects: IdSet
  readonly #youngBlocks: IdSet
  #files: FileId[] = []
  headSeq = 0

  constructor(reader: Reader, options: MarkOptions, yielding: Yielding) {
    this.#reader = reader
    this.#key = options.libraryKey
    this.#options = options
    this.#yielding = yielding
    const newSet = () => new IdSet(options.mostInMemory)
    this.#objects = newSet()
    this.#blocks = newSet()
    this.#youngObjects = newSet()
    this.#youngBlocks = newSet()
  }

  [Symbol.dispose](): void {
    for (const set of [this.#objects, this.#blocks, this.#youngObjects, this.#youngBlocks]) {
      set[Symbol.dispose]()
    }
  }

  /** Received commits, objects and blocks. */
  async walkSent(): Promise<void> {
    for (const { root, parent } of await receivedCommits.list(this.#reader, this.#key)) {
      await this.#belowIfThere(root)
      if (parent === undefined) continue
      const found = await receivedCommits.find(this.#reader, { key: this.#key, id: '' as LibraryId }, parent)
      if (found !== undefined) await this.#belowIfThere(found.commit.rootId)
    }
    let after: Uint8Array = new Uint8Array(0)
    for (;;) {
      const rows = await listReceivedAfter(this.#reader, this.#key, after, ROWS_PER_STEP)
      for (const row of rows) await this.#received(row)
      const last = rows.at(-1)
      if (last === undefined || rows.length < ROWS_PER_STEP) break
      after = idToBytes(last.id)
      await this.#rest()
    }
    for (after = new Uint8Array(0); ; ) {
      const ids = await listUncommittedAfter(this.#reader, this.#key, after, ROWS_PER_STEP)
      for (const id of ids) this.#blocks.add(id)
      const last = ids.at(-1)
      if (last === undefined || ids.length < ROWS_PER_STEP) break
      after = last
      await this.#rest()
    }
    await this.#flush(false)
  }

  async #received(row: ReceivedObject): Promise<void> {
    if (row.kind === FILE) {
      this.#objects.add(idToBytes(row.id))
      for (const block of readFileRow(row).blockIds) this.#blocks.add(idToBytes(block))
      return
    }
    await this.#belowIfThere(row.id as DirId)
    for (const entry of unpackDir(Buffer.from(row.data), row.id as DirId).entries) {
      if (entry.kind === 'dir') await this.#belowIfThere(entry.id)
      else this.#visit(entry.id, false)
    }
  }

  /** Views, tickets and tasks. */
  async walkKept(): Promise<void> {
    for (const id of this.#options.kept) {
      await this.#belowIfThere(id as DirId)
      this.#visit(id as FileId, false)
    }
    await this.#flush(false)
  }

  /** The trees of commits from `from` up to the head, oldest first: each then shares most dirs with the one before. False for a deleted library. */
  async walkCommits(from: number): Promise<boolean> {
    const library = await libraryRows.findByKey(this.#reader, this.#key)
    if (library === undefined) return false
    for (let start = from; start <= library.headSeq; start += ROWS_PER_STEP) {
      const to = Math.min(start + ROWS_PER_STEP - 1, library.headSeq)
      const commits = (await commitRows.listDown(this.#reader, library, to, start)).toReversed()
      refuseGaps(commits, Math.max(start, library.validSinceSeq), to, this.#key)
      for (const { rootId } of commits) await this.#below(rootId, false)
      for (const merged of (await commitRows.listMerged(this.#reader, library, to, start)).values()) {
        for (const { rootId } of merged) await this.#belowIfThere(rootId)
      }
    }
    await this.#below(library.root, false)
    await this.#flush(false)
    this.headSeq = library.headSeq
    return true
  }

  /** Walks what is below objects that are not condemned and that nothing reached. */
  async walkYoung(): Promise<void> {
    await this.#eachObject(async ({ id, kind, condemned_at }) => {
      if (condemned_at !== null || this.#objects.has(id)) return
      const hex = Buffer.from(id).toString('hex')
      if (kind === FILE) this.#visit(hex as FileId, true)
      else await this.#below(hex as DirId, true)
    })
    await this.#flush(true)
  }

  async compare(): Promise<Marked> {
    const objects = { unreachable: new IdList(), released: new IdList(), deletable: new IdList() }
    const references = { unreachable: new IdList(), released: new IdList(), deletable: new IdList() }
    const { most } = this.#options
    const put = (list: IdList, id: Uint8Array, depth = 0) => {
      if (list.length < most) list.push(id, depth)
    }
    await this.#eachObject(async ({ id, depth, condemned_at }) => {
      if (this.#objects.has(id)) {
        if (condemned_at !== null) put(objects.released, id)
      } else if (condemned_at === null) put(objects.unreachable, id, depth)
      else if (!this.#youngObjects.has(id)) put(objects.deletable, id, depth)
    })
    let referenceBytes = 0
    await this.#eachReference(({ id, size, condemned_at }) => {
      if (this.#blocks.has(id)) {
        if (condemned_at !== null) put(references.released, id)
        return
      }
      referenceBytes += size
      if (condemned_at === null) put(references.unreachable, id)
      else if (!this.#youngBlocks.has(id)) put(references.deletable, id)
    })
    return {
      unreachable: objects.unreachable.ids(),
      depths: objects.unreachable.numbers(),
      released: objects.released.ids(),
      deletable: objects.deletable.idsDescending(),
      unreachableReferences: references.unreachable.ids(),
      releasedReferences: references.released.ids(),
      deletableReferences: references.deletable.ids(),
      referenceBytes,
    }
  }

  async #eachObject(
    visit: (row: Awaited<ReturnType<typeof condemnedObjects.listAfter>>[number]) => Promise<void>,
  ): Promise<void> {
    for (let after: Uint8Array = new Uint8Array(0); ; ) {
      const rows = await condemnedObjects.listAfter(this.#reader, this.#key, after, ROWS_PER_STEP)
      for (const row of rows) await visit(row)
      const last = rows.at(-1)
      if (last === undefined || rows.length < ROWS_PER_STEP) return
      after = last.id
      await this.#rest()
    }
  }

  async #eachReference(
    visit: (row: Awaited<ReturnType<typeof condemnedBlocks.listReferencesAfter>>[number]) => void,
  ): Promise<void> {
    for (let after: Uint8Array = new Uint8Array(0); ; ) {
      const rows = await condemnedBlocks.listReferencesAfter(this.#reader, this.#key, after, ROWS_PER_STEP)
      for (const row of rows) visit(row)
      const last = rows.at(-1)
      if (last === undefined || rows.length < ROWS_PER_STEP) return
      after = last.id
      await this.#rest()
    }
  }

  /** For a root that may be gone, or that is not a dir. */
  async #belowIfThere(root: DirId): Promise<void> {
    try {
      await this.#below(root, false)
    } catch (error) {
      if (!(error instanceof ObjectMissing) || error.id !== root) throw error
    }
  }

  /** Throws ObjectMissing: nothing of a damaged library is deleted. */
  async #below(root: DirId, isYoung: boolean): Promise<void> {
    const isKnown = (dir: DirId) => this.#isKnown(idToBytes(dir), isYoung)
    const open: DirId[] = [root]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === EMPTY_ID || isKnown(id)) continue
      const added = await this.#entriesOf(id, isYoung)
      this.#tables(isYoung).objects.add(idToBytes(id))
      for (const entries of added) {
        for (const entry of entries) {
          if (entry.kind === 'dir') open.push(entry.id)
          else this.#visit(entry.id, isYoung)
        }
        if (this.#files.length >= FILES_PER_STEP) await this.#flush(isYoung)
      }
      await this.#rest()
    }
  }

  async #entriesOf(id: DirId, isYoung: boolean): ReturnType<typeof readAdded> {
    const isKnown = (dir: DirId) => this.#isKnown(idToBytes(dir), isYoung)
    try {
      return await readAdded(this.#reader, this.#key, id, isKnown)
    } catch (error) {
      // Nobody can read what no root reaches, so a gap in it is no damage. It is condemned with the rest.
      if (isYoung && error instanceof ObjectMissing) return []
      throw error
    }
  }

  #visit(file: FileId, isYoung: boolean): void {
    if (file === EMPTY_ID) return
    const id = idToBytes(file)
    if (this.#isKnown(id, isYoung)) return
    this.#tables(isYoung).objects.add(id)
    this.#files.push(file)
  }

  /** The blocks of the files visited since. */
  async #flush(isYoung: boolean): Promise<void> {
    const { blocks } = this.#tables(isYoung)
    while (this.#files.length > 0) {
      const some = this.#files.splice(-FILES_PER_STEP)
      for (const ids of await listBlocksOf(this.#reader, this.#key, some)) {
        for (let at = 0; at < ids.length; at += ID_BYTES) blocks.add(ids, at)
      }
      await this.#rest()
    }
  }

  #tables(isYoung: boolean): { objects: IdSet; blocks: IdSet } {
    return isYoung
      ? { objects: this.#youngObjects, blocks: this.#youngBlocks }
      : { objects: this.#objects, blocks: this.#blocks }
  }

  #isKnown(id: Uint8Array, isYoung: boolean): boolean {
    return this.#objects.has(id) || (isYoung && this.#youngObjects.has(id))
  }

  async #rest(): Promise<void> {
    if (this.#yielding.isDue) await this.#yielding.rest()
  }
}

/** Throws if a commit is lost: what only its tree reaches would look unreachable, and could not be restored with the commit. */
function refuseGaps(
  commits: readonly { readonly seq: number }[],
  from: number,
  to: number,
  key: number,
): void {
  const found = commits.filter(({ seq }) => seq >= from).length
  const missing = Math.max(0, to - from + 1) - found
  if (missing > 0) throw new Error(`${missing} commits of library ${key} are missing: run carrel repair.`)
}
