import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LibraryId } from '../../base/objects/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import type { HistoryStores } from './history-stores.ts'
import { listTrashRows } from './trash.ts'
import { type CountedAction, countTrashActions, type TrashAction, withItems } from './trash-actions.ts'
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

/** An action in the trash of a library. */
interface MergedTrashAction {
  readonly library: LibraryInfo
  readonly action: TrashAction
}

/** Where the next page of the actions of several libraries begins. */
export interface MergedActionsCursor {
  /** Unix seconds. */
  readonly deletedAt: number
  readonly libraryId: LibraryId
  /** The first commit of the last action. */
  readonly before: number
}

/** What was deleted at once in several libraries, latest first, in the order of listMergedTrash. */
export async function listMergedTrashActions(
  stores: HistoryStores,
  libraries: readonly LibraryInfo[],
  query: { cursor?: MergedActionsCursor | undefined; name?: string | undefined; limit: number },
): Promise<{ items: MergedTrashAction[]; next: MergedActionsCursor | undefined }> {
  const { limit, name, cursor } = query
  let merged: { library: LibraryInfo; action: CountedAction }[] = []
  for (const [index, library] of libraries.entries()) {
    if (index % LIBRARIES_PER_TURN === LIBRARIES_PER_TURN - 1) await nextTurn()
    const notBefore = merged.length > limit ? merged.at(-1)?.action.deletedAt : undefined
    const page = { ...actionsAfter(library, cursor), notBefore, name, limit: limit + 1 }
    const actions = await countTrashActions(stores, library, page)
    if (actions.length === 0) continue
    merged = [...merged, ...actions.map((action) => ({ library, action }))]
      .toSorted(compareActions)
      .slice(0, limit + 1)
  }
  const items: MergedTrashAction[] = []
  for (const { library, action } of merged.slice(0, limit)) {
    items.push({ library, action: await withItems(stores, library, { name }, action) })
  }
  const last = items.at(-1)
  if (merged.length <= limit || last === undefined) return { items, next: undefined }
  const { deletedAt, firstSeq: before } = last.action
  return { items, next: { deletedAt, libraryId: last.library.id, before } }
}

/** The actions of a library that follow the cursor in the merged order. */
function actionsAfter({ id }: LibraryInfo, cursor: MergedActionsCursor | undefined) {
  if (cursor === undefined) return {}
  const { deletedAt, libraryId, before } = cursor
  if (id === libraryId) return { before }
  return { to: id > libraryId ? deletedAt : deletedAt - 1 }
}

function compareActions(
  a: { library: LibraryInfo; action: CountedAction },
  b: { library: LibraryInfo; action: CountedAction },
): number {
  if (a.action.deletedAt !== b.action.deletedAt) return b.action.deletedAt - a.action.deletedAt
  if (a.library.id !== b.library.id) return a.library.id < b.library.id ? -1 : 1
  return b.action.lastSeq - a.action.lastSeq
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
