import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type BlockId,
  type DirDirent,
  type Dirent,
  type DirId,
  EMPTY_ID,
  type FileId,
} from '../../base/objects/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import {
  blocksOf,
  ObjectMissing,
  type ObjectStore,
  objectRows,
  type PreparedObject,
  prepareWholeDir,
  type StoredDir,
} from '../tree/index.ts'
import { shareBlocks } from './block-rows-store.ts'

// Limits of one transaction, which takes a few milliseconds (I10).
const ROWS_PER_STEP = 128
const BYTES_PER_STEP = 1 << 20
const BLOCKS_PER_STEP = 128
// Approximate size of a stored entry of a dir.
const BYTES_PER_ENTRY = 44

interface Stores {
  readonly db: Database
  readonly objects: ObjectStore
}

/** Called in the transaction of a step, which may be retried, with the number of files copied so far. */
export type OnStep = (tx: Transaction, files: number) => Promise<void>

/**
 * Copies the objects and block references below entries to another library: rows, not bytes. They are
 * stored in small steps before a dirent of the target refers to them (I1). If none ever does, garbage
 * collection removes them.
 */
export async function copyObjects(
  stores: Stores,
  fromKey: number,
  toKey: number,
  entries: readonly Dirent[],
  onStep: OnStep = async () => {},
): Promise<void> {
  const open = [...entries]
  const seen = new Set<DirId>()
  const slicer = new TimeSlicer()
  let step = new Step(0)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'file') step.addFile(next.id)
    else if (next.id !== EMPTY_ID) await addDir(next)
    if (step.isFull) {
      await step.store(stores, fromKey, toKey, onStep)
      step = new Step(step.files)
    } else if (slicer.isDue) {
      await slicer.rest()
    }
  }
  await step.store(stores, fromKey, toKey, onStep)

  async function addDir({ id }: DirDirent): Promise<void> {
    const stored = await stores.objects.getDir(fromKey, id)
    if (seen.has(id)) {
      step.files += stored.fileCount
      return
    }
    seen.add(id)
    step.addDir(stored)
    for (const entry of stored.dir.entries) open.push(entry)
  }
}

/** The rows of the next transaction. */
class Step {
  /** Files visited so far, including those that need no row. */
  files: number
  readonly #filesBefore: number
  #bytes = 0
  readonly #dirs: StoredDir[] = []
  readonly #fileIds = new Set<FileId>()

  constructor(filesBefore: number) {
    this.files = filesBefore
    this.#filesBefore = filesBefore
  }

  get isFull(): boolean {
    const rows = this.files - this.#filesBefore + this.#dirs.length
    return rows >= ROWS_PER_STEP || this.#bytes >= BYTES_PER_STEP
  }

  addFile(id: FileId): void {
    this.files += 1
    if (id !== EMPTY_ID) this.#fileIds.add(id)
  }

  addDir(stored: StoredDir): void {
    this.#dirs.push(stored)
    this.#bytes += BYTES_PER_ENTRY * stored.dir.size
  }

  async store(stores: Stores, fromKey: number, toKey: number, onStep: OnStep): Promise<void> {
    const ids = [...this.#fileIds]
    const files = await stores.objects.findFileRows(fromKey, ids)
    const found = new Set<string>(files.map(({ id }) => id))
    const missing = ids.find((id) => !found.has(id))
    if (missing !== undefined) throw new ObjectMissing(fromKey, missing)
    const blocks = await shareFullBatches(stores, fromKey, toKey, files)
    const { whole, others } = await this.#dirsIn(stores, fromKey)
    await nextTurn()
    await stores.db.write(
      async (tx) => {
        await shareBlocks(tx, fromKey, toKey, blocks)
        await objectRows.copyWhole(tx, fromKey, toKey, [...ids, ...whole])
        await objectRows.insert(tx, toKey, others)
        await onStep(tx, this.files)
      },
      // The commit that refers to them relies on them.
      { durable: 'replicated' },
    )
    await nextTurn()
  }

  /** The dirs whose rows can be copied unchanged, and new rows for the others. */
  async #dirsIn(
    stores: Stores,
    libraryKey: number,
  ): Promise<{ whole: ReadonlySet<DirId>; others: PreparedObject[] }> {
    if (this.#dirs.length === 0) return { whole: new Set(), others: [] }
    const ids = this.#dirs.map(({ dir }) => dir.id)
    const whole = await objectRows.findWhole(stores.db, libraryKey, ids)
    const slicer = new TimeSlicer()
    const others: PreparedObject[] = []
    for (const stored of this.#dirs) {
      if (!whole.has(stored.dir.id)) others.push(await slicer.through(prepareWholeDir(stored)))
    }
    // Sorted, so that transactions lock rows in one order (no deadlock).
    return { whole, others: others.sort((a, b) => (a.id < b.id ? -1 : 1)) }
  }
}

/** Shares the blocks of files, except for the last batch, which is returned for the next transaction. */
async function shareFullBatches(
  stores: Stores,
  fromKey: number,
  toKey: number,
  files: readonly PreparedObject[],
): Promise<BlockId[]> {
  let blocks = new Set<BlockId>()
  for (const file of files) {
    for (const block of blocksOf(file)) {
      if (blocks.size >= BLOCKS_PER_STEP) {
        const some = [...blocks]
        blocks = new Set()
        await stores.db.write((tx) => shareBlocks(tx, fromKey, toKey, some), { durable: 'replicated' })
        await nextTurn()
      }
      blocks.add(block)
    }
  }
  return [...blocks]
}
