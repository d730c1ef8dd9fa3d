import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database, Transaction } from '../database/index.ts'
import {
  type BlockId,
  type DirDirent,
  type Dirent,
  type DirId,
  EMPTY_ID,
  type FileId,
} from '../objects/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import {
  blocksOf,
  copyWholeRows,
  findWhole,
  insertObjects,
  ObjectMissing,
  type ObjectStore,
  type PreparedObject,
  prepareWholeDir,
  type StoredDir,
} from '../tree/index.ts'
import { shareBlocks } from './block-rows-store.ts'

// What one transaction writes: a few milliseconds' work (I10).
const ROWS_A_STEP = 128
const BYTES_A_STEP = 1 << 20
const BLOCKS_A_STEP = 128
// Approximate size of a stored entry of a dir.
const BYTES_AN_ENTRY = 44

interface Stores {
  readonly db: Database
  readonly objects: ObjectStore
}

/** In the transaction of a step, which may be tried twice: how many files are copied so far. */
export type OnStep = (tx: Transaction, files: number) => Promise<void>

/**
 * Gives one library the objects and blocks below entries of another: rows, not bytes. They are
 * stored in small steps before any dirent of the target names them (I1); if nothing ever does,
 * garbage collection takes them.
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
  const pace = new TimeSlicer()
  let step = new Step(0)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'file') step.addFile(next.id)
    else if (next.id !== EMPTY_ID) await addDir(next)
    if (step.isFull) {
      await step.store(stores, fromKey, toKey, onStep)
      step = new Step(step.files)
    } else if (pace.isDue) {
      await pace.rest()
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

/** What goes into the next transaction. */
class Step {
  /** Files met on the way so far, those that need no row of their own included. */
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
    return rows >= ROWS_A_STEP || this.#bytes >= BYTES_A_STEP
  }

  addFile(id: FileId): void {
    this.files += 1
    if (id !== EMPTY_ID) this.#fileIds.add(id)
  }

  addDir(stored: StoredDir): void {
    this.#dirs.push(stored)
    this.#bytes += BYTES_AN_ENTRY * stored.dir.size
  }

  async store(stores: Stores, fromKey: number, toKey: number, onStep: OnStep): Promise<void> {
    const ids = [...this.#fileIds]
    const files = await stores.objects.findFileRows(fromKey, ids)
    const found = new Set<string>(files.map(({ id }) => id))
    const missing = ids.find((id) => !found.has(id))
    if (missing !== undefined) throw new ObjectMissing(fromKey, missing)
    const blocks = await shareMost(stores, fromKey, toKey, files)
    const { whole, others } = await this.#dirsIn(stores, fromKey)
    await nextTurn()
    await stores.db.write(
      async (tx) => {
        await shareBlocks(tx, fromKey, toKey, blocks)
        await copyWholeRows(tx, fromKey, toKey, [...ids, ...whole])
        await insertObjects(tx, toKey, others)
        await onStep(tx, this.files)
      },
      // The commit that will name them is durable only after they are.
      { durable: false },
    )
    await nextTurn()
  }

  /** Those whose rows can be copied as they are, and new rows for the others. */
  async #dirsIn(
    stores: Stores,
    libraryKey: number,
  ): Promise<{ whole: ReadonlySet<DirId>; others: PreparedObject[] }> {
    if (this.#dirs.length === 0) return { whole: new Set(), others: [] }
    const ids = this.#dirs.map(({ dir }) => dir.id)
    const whole = await findWhole(stores.db, libraryKey, ids)
    const pace = new TimeSlicer()
    const others: PreparedObject[] = []
    for (const stored of this.#dirs) {
      if (!whole.has(stored.dir.id)) others.push(await pace.through(prepareWholeDir(stored)))
    }
    // In one order everywhere, so that no two tasks wait for each other's rows.
    return { whole, others: others.sort((a, b) => (a.id < b.id ? -1 : 1)) }
  }
}

/** Shares the blocks of files, but for the last few: those are given back, for the transaction that is to come. */
async function shareMost(
  stores: Stores,
  fromKey: number,
  toKey: number,
  files: readonly PreparedObject[],
): Promise<BlockId[]> {
  let blocks = new Set<BlockId>()
  for (const file of files) {
    for (const block of blocksOf(file)) {
      if (blocks.size >= BLOCKS_A_STEP) {
        const some = [...blocks]
        blocks = new Set()
        await stores.db.write((tx) => shareBlocks(tx, fromKey, toKey, some), { durable: false })
        await nextTurn()
      }
      blocks.add(block)
    }
  }
  return [...blocks]
}
