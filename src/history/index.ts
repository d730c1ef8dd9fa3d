export { historyRows } from './dependent-rows-store.ts'
export type { Revision } from './file-history.ts'
export { listFileHistoryFrom, listFileHistoryPage } from './file-history-pages.ts'
export { folderAsOf, folderStays, treeAsOf } from './folder-history.ts'
export {
  daysAgo,
  getCommit,
  getCommitDetail,
  type HistorySource,
  keepDays,
  listHistory,
  oldestShown,
  setKeepDays,
} from './history.ts'
export { HistoryReader } from './history-reader.ts'
export { PathIndex } from './path-index.ts'
export { findOrigin, getCommitFor, getTreeAt, getTreeAtTime, treeOf } from './revisions.ts'
export { findTrash, listTrashPage, type TrashPage, type TrashSearch } from './trash.ts'
export { TrashCounts } from './trash-counts.ts'
export { listTrash, type TrashCursor, type TrashRow } from './trash-store.ts'
