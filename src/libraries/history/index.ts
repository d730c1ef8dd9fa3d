export { historyRows } from './dependent-rows-store.ts'
export type { Revision } from './file-history.ts'
export { originKey } from './file-history-store.ts'
export { daysAgo, type HistorySource, keepDays, oldestShown } from './history.ts'
export { type HistoryStores, TrashCounts } from './history-stores.ts'
export { findIndexFaults } from './index-check.ts'
export { countFutureHistory, repairFutureHistory } from './index-check-store.ts'
export { LibraryHistory } from './library-history.ts'
export type { MergedActionsCursor, MergedTrashCursor, MergedTrashItem } from './merged-trash.ts'
export { PathIndex } from './path-index.ts'
export {
  deleteFirstSeen,
  deleteOrigins,
  deletePathIndexBelow,
  listFirstSeenAfter,
  listOriginsAfter,
} from './path-index-store.ts'
export { deleteUnlistedTrash, type TrashPage, type TrashSearch } from './trash.ts'
export type { CommitRange, TrashAction } from './trash-actions.ts'
export { listTrash, type TrashCursor, type TrashRow } from './trash-store.ts'
