import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LibraryId } from '../../base/objects/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import type { HistoryStores } from './history-stores.ts'
import { listTrashRows } from './trash.ts'
import type { TrashCursor, TrashRow } from './trash-store.ts'

/** Libraries read between two turns of the event loop. */
const LIBRARIES_PER_TURN = 10

/** A deleted entry and its library. */
export interface MergedTrashItem {
  readonly library: LibraryInfo
  readonly row: TrashRow
}

/** Position of an item in the merged order. */
export interface MergedTrashCursor extends TrashCursor {
  /** Unix seconds. */
  readonly deletedAt: number
  readonly libraryId: LibraryId
}

/**
 * Deleted entries of several libraries, latest deletion first. Libraries with deletions in the same second follow each
 * other by id. At most `limit + 1` items are held, whatever the number of libraries.
 */
export async function listMergedTrash(
  stores: HistoryStores,
  libraries: readonly LibraryInfo[],
  query: { cursor?: MergedTrashCursor | undefined; name?: string | undefined; limit: number },
): Promise<{ items: MergedTrashItem[]; next: MergedTrashCursor | undefined }> {
  const { limit, name } = query
  let merged: MergedTrashItem[] = []
  for (const [index, library] of libraries.entries()) {
    if (index % LIBRARIES_PER_TURN === LIBRARIES_PER_TURN - 1) await nextTurn()
    // Rows older than the last of a full page cannot be on it.
    const from = merged.length > limit ? merged.at(-1)?.row.deletedAt : undefined
    const page = { ...rangeOf(library, query.cursor), from, name, limit: limit + 1 }
    const rows = await listTrashRows(stores, library, page)
    if (rows.length === 0) continue
    merged = [...merged, ...rows.map((row) => ({ library, row }))].toSorted(compare).slice(0, limit + 1)
  }
  const items = merged.slice(0, limit)
  const last = items.at(-1)
  return { items, next: merged.length > limit && last !== undefined ? cursorAt(last) : undefined }
}

/** The rows of a library that follow the cursor in the merged order. */
function rangeOf({ id }: LibraryInfo, cursor: MergedTrashCursor | undefined) {
  if (cursor === undefined) return {}
  const { deletedAt, libraryId } = cursor
  if (id === libraryId) return { cursor }
  return { to: id > libraryId ? deletedAt : deletedAt - 1 }
}

function compare(a: MergedTrashItem, b: MergedTrashItem): number {
  if (a.row.deletedAt !== b.row.deletedAt) return b.row.deletedAt - a.row.deletedAt
  if (a.library.id !== b.library.id) return a.library.id < b.library.id ? -1 : 1
  return b.row.seq - a.row.seq || a.row.position - b.row.position
}

function cursorAt({ library, row }: MergedTrashItem): MergedTrashCursor {
  return { deletedAt: row.deletedAt, libraryId: library.id, seq: row.seq, position: row.position }
}
