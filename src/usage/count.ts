import { type LibraryInfo, listCommitsDown, listMergedCommits } from '../commits/index.ts'
import { listHeldAfter } from '../content/index.ts'
import type { Reader } from '../database/index.ts'
import { listTrash, type TrashCursor } from '../history/index.ts'
import type { DirId, FileId } from '../objects/index.ts'
import { BlockUses, CURRENT, HISTORY, PARTS, partOf, TRASH } from './block-uses.ts'
import { CountingWalk, type Rests } from './counting-walk.ts'
import type { LibraryUsage } from './usage-store.ts'

const ROWS_A_STEP = 250

/** What is to be counted. */
export interface CountWish {
  readonly library: Pick<LibraryInfo, 'key' | 'id' | 'root' | 'headSeq'>
  /** The oldest commit that is shown. */
  readonly oldestSeq: number
  /** Whether what was deleted can be restored. */
  readonly keepsTrash: boolean
  /** How many blocks one round takes at most. */
  readonly mostBlocks?: number | undefined
}

/** What was counted. */
export type Counted = Omit<LibraryUsage, 'head' | 'oldestSeq' | 'computedAt'>

/**
 * Counts the stored bytes of a library: walks through all that it shows, and then through the blocks it holds. How much
 * memory that takes does not depend on the number of files: what is too much for one round is divided into several.
 */
export async function count(reader: Reader, wish: CountWish, rests: Rests): Promise<Counted> {
  const { library, keepsTrash, mostBlocks } = wish
  const sums = { bytes: [0, 0, 0, 0], shared: 0, blocks: 0 }
  for (let part = 0; part < PARTS; ) {
    using uses = new BlockUses(part, mostBlocks)
    const walk = new CountingWalk(reader, library.key, uses, rests)
    await walk.as(CURRENT, () => walk.below(library.root))
    if (keepsTrash) await walk.as(TRASH, () => walkTrash(reader, wish, walk))
    await walk.as(HISTORY, () => walkHistory(reader, wish, walk))
    await addHeld(reader, library.key, uses, rests, sums)
    part = uses.to
  }
  const [unreferenced = 0, current = 0, trash = 0, history = 0] = sums.bytes
  const { shared, blocks } = sums
  return { current, trash, history, unreferenced, shared, blocks }
}

async function walkTrash(
  reader: Reader,
  { library, oldestSeq }: CountWish,
  walk: CountingWalk,
): Promise<void> {
  let cursor: TrashCursor | undefined
  do {
    const filter = { afterSeq: oldestSeq }
    const rows = await listTrash(reader, library.key, filter, { cursor, limit: ROWS_A_STEP })
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
  { library, oldestSeq }: CountWish,
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
  rests: Rests,
  sums: { readonly bytes: number[]; shared: number; blocks: number },
): Promise<void> {
  // Shorter than an id, it goes before all that begin like it.
  let after: Uint8Array = uses.from === 0 ? new Uint8Array(0) : Uint8Array.of(uses.from << 2)
  for (;;) {
    if (rests.isDue) await rests.rest()
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
