import { setImmediate as nextTurn } from 'node:timers/promises'
import { type LibraryPath, ROOT } from '../../base/paths/index.ts'
import { asSeen, inOrigin, type LibraryInfo, libraryHeads, libraryRows, originOf } from '../registry/index.ts'
import { folderSince } from './folder-history.ts'
import { daysAgo, type HistorySource, keepDays, oldestShown } from './history.ts'
import type { HistoryStores } from './history-stores.ts'
import {
  countTrash,
  deleteTrashUpTo,
  hasTrashUpTo,
  listTrash,
  listTrashFromEnd,
  type TrashCursor,
  type TrashFilter,
  type TrashRow,
} from './trash-store.ts'

const PAGE_SIZE = 100
const LIBRARIES_PER_PAGE = 500
const ROWS_PER_TRANSACTION = 500
const MAX_NAME_LENGTH = 255

export interface TrashPage {
  readonly items: TrashRow[]
  /** Where the next page begins; undefined at the end. */
  readonly next: TrashCursor | undefined
}

/**
 * Entries deleted below a folder that do not exist again, latest first. Includes every deletion that was
 * acknowledged before this call.
 */
export async function listTrashPage(
  stores: HistoryStores,
  library: LibraryInfo,
  query: { folder?: LibraryPath; showDays?: number; cursor?: TrashCursor | undefined },
): Promise<TrashPage> {
  if (keepDays(stores, library) === 0) return { items: [], next: undefined }
  const { folder = ROOT, showDays = 0, cursor } = query
  const from = showDays > 0 ? daysAgo(stores, showDays) : undefined
  const filter = await currentFilter(stores, library, { folder, from })
  const rows = await listTrash(stores.db, library.key, filter, { cursor, limit: PAGE_SIZE + 1 })
  const items = rows.slice(0, PAGE_SIZE).map((row) => toViewRow(library, row))
  const last = items.at(-1)
  const more = rows.length > PAGE_SIZE && last !== undefined
  return { items, next: more ? { seq: last.seq, position: last.position } : undefined }
}

/** Rows of one library for a listing of several, latest first. */
export async function listTrashRows(
  stores: HistoryStores,
  library: LibraryInfo,
  query: TrashSearch & { cursor?: TrashCursor | undefined; limit: number },
): Promise<TrashRow[]> {
  const { cursor, limit, ...search } = query
  if (findsNothing(stores, library, search)) return []
  const filter = await currentFilter(stores, library, search)
  const rows = await listTrash(stores.db, library.key, filter, { cursor, limit })
  return rows.map((row) => toViewRow(library, row))
}

/** Criteria of a search in the trash. The folder is as the library shows it. */
export type TrashSearch = Omit<TrashFilter, 'afterSeq'>

/** The filter of a search, once all deletions acknowledged before this call are in the trash. */
export async function currentFilter(
  stores: HistoryStores,
  library: LibraryInfo,
  search: TrashSearch,
): Promise<TrashFilter> {
  await stores.pathIndex.catchUp(originOf(library))
  const folder = inOrigin(library, search.folder ?? ROOT)
  return { ...search, folder, afterSeq: await afterSeq(stores, library) }
}

/** Whether a search can find nothing. No name is longer than the limit, and the database limits the length of a pattern. */
export function findsNothing(stores: HistorySource, library: LibraryInfo, search: TrashSearch): boolean {
  if (keepDays(stores, library) === 0 || (search.name?.length ?? 0) > MAX_NAME_LENGTH) return true
  return search.deletedBy?.length === 0 || search.extensions?.length === 0
}

/** A page of deleted entries that do not exist again, numbered from 1, and their total number. */
export async function findTrash(
  stores: HistoryStores,
  library: LibraryInfo,
  search: TrashSearch,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ items: TrashRow[]; total: number }> {
  if (findsNothing(stores, library, search)) return { items: [], total: 0 }
  const filter = await currentFilter(stores, library, search)
  const skip = (page - 1) * perPage
  const total = await stores.trashCounts.of(library, filter, () => countTrash(stores.db, library.key, filter))
  const limit = Math.min(perPage, total - skip)
  if (limit <= 0) return { items: [], total }
  const following = total - skip - limit
  const rows =
    skip <= following
      ? await listTrash(stores.db, library.key, filter, { skip, limit })
      : await listTrashFromEnd(stores.db, library.key, filter, { skip: following, limit })
  return { items: rows.map((row) => toViewRow(library, row)), total }
}

/** Maintenance: deletes the rows of deleted entries that no trash lists any more. Returns their number. */
export async function deleteUnlistedTrash(source: HistorySource, signal: AbortSignal): Promise<number> {
  const { db } = source
  let deleted = 0
  for (let after = 0; !signal.aborted; ) {
    const heads = await libraryHeads.list(db, after, LIBRARIES_PER_PAGE)
    for (const { key } of heads) {
      const library = await libraryRows.findByKey(db, key)
      if (library !== undefined && !signal.aborted) deleted += await deleteUnlistedOf(source, library)
    }
    after = heads.at(-1)?.key ?? 0
    if (after === 0) break
    await nextTurn()
  }
  return deleted
}

async function deleteUnlistedOf(source: HistorySource, library: LibraryInfo): Promise<number> {
  const { db } = source
  const oldest = await oldestShown(source, library)
  let deleted = 0
  while (await hasTrashUpTo(db, library.key, oldest)) {
    deleted += await db.write((tx) => deleteTrashUpTo(tx, library.key, oldest, ROWS_PER_TRANSACTION), {
      durable: false,
    })
    await nextTurn()
  }
  return deleted
}

/** Deletions of the oldest shown commit are not listed, because the state before it is not shown. */
async function afterSeq(stores: HistoryStores, library: LibraryInfo): Promise<number> {
  const oldest = await oldestShown(stores, library)
  // Earlier deletions at these paths belong to another folder.
  return library.sub === undefined ? oldest : Math.max(oldest, await folderSince(stores, library))
}

export function toViewRow(library: LibraryInfo, row: TrashRow): TrashRow {
  return { ...row, path: asSeen(library, row.path) ?? row.path }
}
