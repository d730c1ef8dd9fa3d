import type { DirId, FileId } from '../../base/objects/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { commitRows } from '../commits/index.ts'
import { blockRows } from '../content/index.ts'
import { listTrash, type TrashCursor } from '../history/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { BlockUses, CURRENT, HISTORY, PARTS, partOf, TRASH } from './block-uses.ts'
import { CountingWalk, type Yielding } from './counting-walk.ts'
import type { LibraryUsage } from './usage-store.ts'

const ROWS_PER_STEP = 250

/** Parameters of a count. */
export interface CountOptions {
  readonly library: Pick<LibraryInfo, 'key' | 'id' | 'root' | 'headSeq'>
  /** Number of the oldest visible commit. */
  readonly oldestSeq: number
  /** Whether deleted entries can be restored. */
  readonly keepsTrash: boolean
  /** Maximum number of blocks per pass. */
  readonly mostBlocks?: number | undefined
}

/** Result of a count. */
export type Counted = Omit<LibraryUsage, 'head' | 'oldestSeq' | 'computedAt'>

/**
 * Counts the stored bytes of a library: walks all visible commits, then scans the blocks the library holds.
 * Memory does not depend on the number of files, because a large library is counted in several passes.
 */
export async function count(reader: Reader, options: CountOptions, yielding: Yielding): Promise<Counted> {
  const { library, keepsTrash, mostBlocks } = options
  const sums = { bytes: [0, 0, 0, 0], shared: 0, blocks: 0 }
  for (let part = 0; part < PARTS; ) {
    using uses = new BlockUses(part, mostBlocks)
    const walk = new CountingWalk(reader, library.key, uses, yielding)
    await walk.as(CURRENT, () => walk.below(library.root))
    if (keepsTrash) await walk.as(TRASH, () => walkTrash(reader, options, walk))
    await walk.as(HISTORY, () => walkHistory(reader, options, walk))
    await addHeld(reader, library.key, uses, yielding, sums)
    part = uses.to
  }
  const [unreferenced = 0, current = 0, trash = 0, history = 0] = sums.bytes
  const { shared, blocks } = sums
  return { current, trash, history, unreferenced, shared, blocks }
}

async function walkTrash(
  reader: Reader,
  { library, oldestSeq }: CountOptions,
  walk: CountingWalk,
): Promise<void> {
  let cursor: TrashCursor | undefined
  do {
    const filter = { afterSeq: oldestSeq }
    const rows = await listTrash(reader, library.key, filter, { cursor, limit: ROWS_PER_STEP })
    for (const { isDir, objectId } of rows) {
      await (isDir ? walk.below(objectId as DirId) : walk.through(objectId as FileId))
    }
    const last = rows.length === ROWS_PER_STEP ? rows.at(-1) : undefined
    cursor = last && { seq: last.seq, position: last.position }
  } while (cursor !== undefined)
}

/** Oldest first: each later tree then shares most dirs with a visited one, and only its changes are read. */
async function walkHistory(
  reader: Reader,
  { library, oldestSeq }: CountOptions,
  walk: CountingWalk,
): Promise<void> {
  for (let from = oldestSeq; from <= library.headSeq; from += ROWS_PER_STEP) {
    const to = Math.min(from + ROWS_PER_STEP - 1, library.headSeq)
    const commits = await commitRows.listDown(reader, library, to, from)
    for (const { rootId } of commits.toReversed()) await walk.below(rootId)
    for (const merged of (await commitRows.listMerged(reader, library, to, from)).values()) {
      for (const { rootId } of merged.toReversed()) await walk.below(rootId)
    }
  }
}

/** All held blocks, referenced or not. Blocks of an upload in progress count as unreferenced. */
async function addHeld(
  reader: Reader,
  libraryKey: number,
  uses: BlockUses,
  yielding: Yielding,
  sums: { readonly bytes: number[]; shared: number; blocks: number },
): Promise<void> {
  // A prefix shorter than an id sorts before all ids that start with it.
  let after: Uint8Array = uses.from === 0 ? new Uint8Array(0) : Uint8Array.of(uses.from << 2)
  for (;;) {
    if (yielding.isDue) await yielding.rest()
    const rows = await blockRows.listHeldAfter(reader, libraryKey, after, ROWS_PER_STEP)
    for (const { id, size, shared } of rows) {
      if (partOf(id) >= uses.to) return
      const use = uses.find(Buffer.from(id.buffer, id.byteOffset, id.byteLength))
      sums.bytes[use] = (sums.bytes[use] ?? 0) + size
      sums.shared += shared ? size : 0
      sums.blocks += 1
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_STEP) return
    after = last.id
  }
}
