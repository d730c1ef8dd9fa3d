import type { Database } from '../database/database.ts'
import { findHeldBlocks } from '../library/block-rows-store.ts'
import { listCommitsDown } from '../library/commit-store.ts'
import { type HistorySource, keepDays, oldestShown } from '../library/history.ts'
import type { LibraryInfo } from '../library/library-info.ts'
import { blocksOf, type ObjectStore } from '../library/object-store.ts'
import { Pace } from '../library/pace.ts'
import type { PathIndex } from '../library/path-index.ts'
import { listTrash, type TrashCursor } from '../library/trash-store.ts'
import { type BlockId, type DirId, EMPTY_ID, type FileId } from '../objects/ids.ts'
import { IdSet } from './id-set.ts'
import { type LibraryUsage, listHeldAfter } from './usage-store.ts'

const ROWS_A_STEP = 500

/** What counting reads from. */
export interface UsageSource extends HistorySource {
  readonly db: Database
  readonly objects: ObjectStore
  readonly pathIndex: Pick<PathIndex, 'catchUp'>
}

/** Counting was told to stop. */
export class CountingStopped extends Error {
  override name = 'CountingStopped'
}

/** Counts the stored bytes of a library, in steps between which others get their turn. */
export async function countUsage(
  source: UsageSource,
  library: LibraryInfo,
  signal: AbortSignal,
): Promise<LibraryUsage> {
  const { db } = source
  const reached = new Reached(source, library.key, signal)
  const oldestSeq = await oldestShown(source, library)
  const current = await reached.below(library.root)
  const trash = keepDays(source, library) === 0 ? 0 : await countTrash(source, library, oldestSeq, reached)
  let history = 0
  for (let from = library.headSeq - 1; from >= oldestSeq; from -= ROWS_A_STEP) {
    const to = Math.max(oldestSeq, from - ROWS_A_STEP + 1)
    for (const { rootId } of await listCommitsDown(db, library, from, to)) {
      history += await reached.below(rootId)
    }
  }
  const { total, shared, blocks } = await countHeld(db, library.key, signal)
  // An upload may come in while this counts; no class is negative because of it.
  const unreferenced = Math.max(0, total - current - trash - history)
  const counted = { current, trash, history, unreferenced, shared, blocks }
  return { ...counted, head: library.head, oldestSeq, computedAt: source.now() }
}

async function countTrash(
  source: UsageSource,
  library: LibraryInfo,
  afterSeq: number,
  reached: Reached,
): Promise<number> {
  await source.pathIndex.catchUp(library)
  let bytes = 0
  let cursor: TrashCursor | undefined
  do {
    const rows = await listTrash(source.db, library.key, { afterSeq }, { cursor, limit: ROWS_A_STEP })
    for (const row of rows) {
      bytes += row.isDir
        ? await reached.below(row.objectId as DirId)
        : await reached.files([row.objectId as FileId])
    }
    const last = rows.length === ROWS_A_STEP ? rows.at(-1) : undefined
    cursor = last && { seq: last.seq, position: last.position }
  } while (cursor !== undefined)
  return bytes
}

/** All a library holds, whatever reaches it. */
async function countHeld(db: Database, libraryKey: number, signal: AbortSignal) {
  const sums = { total: 0, shared: 0, blocks: 0 }
  for (let after: Uint8Array = new Uint8Array(0); ; ) {
    if (signal.aborted) throw new CountingStopped()
    const rows = await listHeldAfter(db, libraryKey, after, ROWS_A_STEP)
    for (const { size, shared } of rows) {
      sums.total += size
      sums.shared += shared ? size : 0
    }
    sums.blocks += rows.length
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_A_STEP) return sums
    after = last.id
  }
}

/** What was reached so far. Each call gives the bytes of blocks it is the first to reach. */
class Reached {
  readonly #source: UsageSource
  readonly #libraryKey: number
  readonly #signal: AbortSignal
  readonly #pace = new Pace()
  readonly #dirs = new IdSet()
  readonly #files = new IdSet()
  readonly #blocks = new IdSet()

  constructor(source: UsageSource, libraryKey: number, signal: AbortSignal) {
    this.#source = source
    this.#libraryKey = libraryKey
    this.#signal = signal
  }

  /** Below a dir: what is below one that was met before need not be looked at again. */
  async below(root: DirId): Promise<number> {
    let bytes = 0
    const waiting: DirId[] = [root]
    let files: FileId[] = []
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (id === EMPTY_ID || !this.#dirs.add(id)) continue
      const { dir } = await this.#source.objects.getDir(this.#libraryKey, id)
      for (const entry of dir.entries) {
        if (this.#pace.isDue) await this.#rest()
        if (entry.kind === 'dir') waiting.push(entry.id)
        else files.push(entry.id)
        if (files.length < ROWS_A_STEP) continue
        bytes += await this.files(files)
        files = []
      }
    }
    return bytes + (await this.files(files))
  }

  async files(ids: readonly FileId[]): Promise<number> {
    const fresh = ids.filter((id) => id !== EMPTY_ID && this.#files.add(id))
    if (fresh.length === 0) return 0
    if (this.#pace.isDue) await this.#rest()
    let bytes = 0
    const { objects, db } = this.#source
    for (const row of await objects.findFileRows(this.#libraryKey, fresh)) {
      const blocks: BlockId[] = blocksOf(row).filter((id) => this.#blocks.add(id))
      for (const size of (await findHeldBlocks(db, this.#libraryKey, blocks)).values()) bytes += size
      if (this.#pace.isDue) await this.#rest()
    }
    return bytes
  }

  async #rest(): Promise<void> {
    if (this.#signal.aborted) throw new CountingStopped()
    await this.#pace.rest()
  }
}
