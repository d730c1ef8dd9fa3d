import type { Database, Reader } from '../database/database.ts'
import { listCommitsDown, listMergedCommits } from '../library/commit-store.ts'
import { type HistorySource, keepDays, oldestShown } from '../library/history.ts'
import type { LibraryInfo } from '../library/library-info.ts'
import type { PathIndex } from '../library/path-index.ts'
import { listTrash, type TrashCursor } from '../library/trash-store.ts'
import type { DirId, FileId } from '../objects/ids.ts'
import { BlockUses, CURRENT, HISTORY, PARTS, partOf, TRASH } from './block-uses.ts'
import { CountingWalk } from './counting-walk.ts'
import { type LibraryUsage, listHeldAfter } from './usage-store.ts'

const ROWS_A_STEP = 250

/** What counting reads from. */
export interface UsageSource extends HistorySource {
  readonly db: Database
  readonly pathIndex: Pick<PathIndex, 'catchUp'>
}

/**
 * Counts the stored bytes of a library, in steps between which others get their turn. It walks through all that the
 * library shows and then through the blocks it holds. How much memory that takes does not depend on the number
 * of files: what is too much for one round (`mostBlocks`) is divided into several.
 */
export async function countUsage(
  source: UsageSource,
  library: LibraryInfo,
  signal: AbortSignal,
  mostBlocks?: number,
): Promise<LibraryUsage> {
  const oldestSeq = await oldestShown(source, library)
  const keepsTrash = keepDays(source, library) !== 0
  if (keepsTrash) await source.pathIndex.catchUp(library)
  const sums = { bytes: [0, 0, 0, 0], shared: 0, blocks: 0 }
  await source.db.aside(async (reader) => {
    for (let part = 0; part < PARTS; ) {
      using uses = new BlockUses(part, mostBlocks)
      const walk = new CountingWalk(reader, library.key, uses, signal)
      await walk.as(CURRENT, () => walk.below(library.root))
      if (keepsTrash) await walk.as(TRASH, () => walkTrash(reader, library, oldestSeq, walk))
      await walk.as(HISTORY, () => walkHistory(reader, library, oldestSeq, walk))
      await addHeld(reader, library.key, uses, walk, sums)
      part = uses.to
    }
  })
  const [unreferenced = 0, current = 0, trash = 0, history = 0] = sums.bytes
  const { shared, blocks } = sums
  const counted = { current, trash, history, unreferenced, shared, blocks }
  return { ...counted, head: library.head, oldestSeq, computedAt: source.now() }
}

async function walkTrash(
  reader: Reader,
  library: LibraryInfo,
  afterSeq: number,
  walk: CountingWalk,
): Promise<void> {
  let cursor: TrashCursor | undefined
  do {
    const rows = await listTrash(reader, library.key, { afterSeq }, { cursor, limit: ROWS_A_STEP })
    for (const { isDir, objectId } of rows) {
      await (isDir ? walk.below(objectId as DirId) : walk.through(objectId as FileId))
    }
    const last = rows.length === ROWS_A_STEP ? rows.at(-1) : undefined
    cursor = last && { seq: last.seq, position: last.position }
  } while (cursor !== undefined)
}

/** From the oldest on: each version of a folder then rests on one that was walked through, and costs what it changed. */
async function walkHistory(
  reader: Reader,
  library: LibraryInfo,
  oldestSeq: number,
  walk: CountingWalk,
): Promise<void> {
  for (let from = oldestSeq; from <= library.headSeq; from += ROWS_A_STEP) {
    const to = Math.min(from + ROWS_A_STEP - 1, library.headSeq)
    const commits = await listCommitsDown(reader, library, to, from)
    for (const { rootId } of commits.toReversed()) await walk.below(rootId)
    for (const merged of (await listMergedCommits(reader, library, to, from)).values()) {
      for (const { rootId } of merged.toReversed()) await walk.below(rootId)
    }
  }
}

/** What the library holds, whatever reaches it. An upload may come in meanwhile: nothing reaches that yet. */
async function addHeld(
  reader: Reader,
  libraryKey: number,
  uses: BlockUses,
  walk: CountingWalk,
  sums: { readonly bytes: number[]; shared: number; blocks: number },
): Promise<void> {
  // Shorter than an id, it goes before all that begin like it.
  let after: Uint8Array = uses.from === 0 ? new Uint8Array(0) : Uint8Array.of(uses.from << 2)
  for (;;) {
    await walk.restIfDue()
    const rows = await listHeldAfter(reader, libraryKey, after, ROWS_A_STEP)
    for (const { id, size, shared } of rows) {
      if (partOf(id) >= uses.to) return
      const use = uses.find(Buffer.from(id.buffer, id.byteOffset, id.byteLength))
      sums.bytes[use] = (sums.bytes[use] ?? 0) + size
      sums.shared += shared ? size : 0
      sums.blocks += 1
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_A_STEP) return
    after = last.id
  }
}
