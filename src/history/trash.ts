import { asSeen, inOrigin, type LibraryInfo, originOf } from '../commits/index.ts'
import { type LibraryPath, ROOT } from '../objects/index.ts'
import { folderSince } from './folder-history.ts'
import { daysAgo, keepDays, oldestShown } from './history.ts'
import type { HistoryStores } from './history-stores.ts'
import {
  countTrash,
  listTrash,
  listTrashFromEnd,
  type TrashCursor,
  type TrashFilter,
  type TrashRow,
} from './trash-store.ts'

const PAGE = 100
const LONGEST_NAME = 255

export interface TrashPage {
  readonly items: TrashRow[]
  /** Where the next page begins; undefined at the end. */
  readonly next: TrashCursor | undefined
}

/**
 * What was deleted below a folder, latest first, and does not exist again. A deletion that was
 * answered before this was asked is in it.
 */
export async function listTrashPage(
  stores: HistoryStores,
  library: LibraryInfo,
  query: { folder?: LibraryPath; showDays?: number; cursor?: TrashCursor | undefined },
): Promise<TrashPage> {
  if (keepDays(stores, library) === 0) return { items: [], next: undefined }
  await stores.pathIndex.catchUp(originOf(library))
  const { folder = ROOT, showDays = 0, cursor } = query
  const filter = {
    folder: inOrigin(library, folder),
    afterSeq: await afterSeq(stores, library),
    from: showDays > 0 ? daysAgo(stores, showDays) : undefined,
  }
  const rows = await listTrash(stores.db, library.key, filter, { cursor, limit: PAGE + 1 })
  const items = rows.slice(0, PAGE).map((row) => seenRow(library, row))
  const last = items.at(-1)
  const more = rows.length > PAGE && last !== undefined
  return { items, next: more ? { seq: last.seq, position: last.position } : undefined }
}

/** What a search of the trash asks for. */
export type TrashSearch = Omit<TrashFilter, 'afterSeq' | 'folder'>

/** A page of what was deleted and does not exist again, by its number from 1, and how many there are in all. */
export async function findTrash(
  stores: HistoryStores,
  library: LibraryInfo,
  search: TrashSearch,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ items: TrashRow[]; total: number }> {
  const nothing = { items: [], total: 0 }
  // No name is longer, and the database takes no pattern of any length.
  if (keepDays(stores, library) === 0 || (search.name?.length ?? 0) > LONGEST_NAME) return nothing
  if (search.deletedBy?.length === 0 || search.extensions?.length === 0) return nothing
  await stores.pathIndex.catchUp(originOf(library))
  const filter = { ...search, folder: inOrigin(library, ROOT), afterSeq: await afterSeq(stores, library) }
  const skip = (page - 1) * perPage
  const total = await stores.trashCounts.of(library, filter, () => countTrash(stores.db, library.key, filter))
  const limit = Math.min(perPage, total - skip)
  if (limit <= 0) return { items: [], total }
  const behind = total - skip - limit
  const rows =
    skip <= behind
      ? await listTrash(stores.db, library.key, filter, { skip, limit })
      : await listTrashFromEnd(stores.db, library.key, filter, { skip: behind, limit })
  return { items: rows.map((row) => seenRow(library, row)), total }
}

/** The oldest commit shown is a state to come back to, not a deletion to undo. */
async function afterSeq(stores: HistoryStores, library: LibraryInfo): Promise<number> {
  const oldest = await oldestShown(stores, library)
  // What was deleted at these paths before the folder came here was another folder's.
  return library.sub === undefined ? oldest : Math.max(oldest, await folderSince(stores, library))
}

function seenRow(library: LibraryInfo, row: TrashRow): TrashRow {
  return { ...row, path: asSeen(library, row.path) ?? row.path }
}
