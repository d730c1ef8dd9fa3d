export { copyAcross, type RemovalWatcher, refuseUndecrypted, takeAway, type Watcher } from './across.ts'
export { changeStatus, libraryTotals, listLibraryPage, purgeAllDeleted, restoreTo } from './administration.ts'
export type { ListedLibrary } from './administration-store.ts'
export { listHeldAfter, listStoredAfter } from './block-rows-store.ts'
export { blockSizes, contentOfBlocks, holdBlocks, missingBlocks } from './block-upload.ts'
export { CommitFollower, isGone, refuseDeleted } from './commit-follower.ts'
export {
  deleteReceivedCommitsBefore,
  listCommitsDown,
  listMergedCommits,
  type NumberedCommit,
} from './commit-store.ts'
export { type Content, SMALLEST_STORED_BLOCK, type StoredBytes, smallContent } from './content.ts'
export { createLibraryCore, type LibraryCore } from './core.ts'
export { Cover } from './cover.ts'
export { DataKey } from './data-key.ts'
export { ensureDefaultLibrary, findDefaultLibrary } from './default-library.ts'
export {
  contentRows,
  deleteRowsOfAccount,
  historyRows,
  libraryRows,
  objectRows,
  viewRows,
} from './dependent-rows-store.ts'
export type { LibraryDependent, LibraryTransfer } from './dependents.ts'
export { describeAdded, isRecovery } from './describe.ts'
export { type Change, TooManyChanges } from './diff.ts'
export type { StoredDir } from './dir-cache.ts'
export { countAllDirs, countDirs } from './dir-counts.ts'
export { checkMagic, encryptionFromPassword } from './encryption.ts'
export {
  createFile,
  makeFolder,
  makeFolders,
  makeManyFolders,
  type Placed,
  remove,
  removeOne,
  rename,
} from './entries.ts'
export type { Revision } from './file-history.ts'
export { listFileHistoryFrom, listFileHistoryPage } from './file-history-pages.ts'
export { followedSeq, moveFollower, writeFollowed } from './follower-store.ts'
export type { GrowthGuard } from './growth.ts'
export {
  emptyTrash,
  getCommit,
  getCommitDetail,
  type HistorySource,
  keepDays,
  listHistory,
  oldestShown,
  setKeepDays,
} from './history.ts'
export { discardAll, type TakenBlock, UnkeptBlocks } from './incoming-block.ts'
export { KeyedTurns } from './keyed-turns.ts'
export {
  type Also,
  type AlsoOfLibrary,
  createLibrary,
  deletedLibrariesOf,
  deleteLibrariesOf,
  deleteLibrary,
  getLibrary,
  type LibraryWish,
  purgeDeletedBefore,
  purgeDeletedOf,
  purgeLibrary,
  renameLibrary,
  restoreLibrary,
  transferAllLibraries,
  transferLibrary,
  undeleteLibrary,
} from './libraries.ts'
export {
  type Actor,
  AdministeredLibrary,
  EditableLibrary,
  Library,
  OwnedLibrary,
  type Permission,
  type Right,
} from './library.ts'
export type { LibraryEvent } from './library-events.ts'
export type {
  LibraryEncryption,
  LibraryInfo,
  LibraryName,
  LibraryStatus,
  LibrarySummary,
  SubLibrary,
} from './library-info.ts'
export { changePassword, openWithPassword } from './library-password.ts'
export {
  findDeletedLibrary,
  findLibraries,
  findLibrary,
  findLibraryByKey,
  findLibraryWithDeleted,
  findOwnerKeys,
  holdHead,
  type LibraryHead,
  type LibraryRow,
  libraryFromRow,
  listLibrariesOf,
  listLibraryHeads,
  listLibraryKeys,
  listLibraryKeysOf,
  listLibraryNamesOf,
  listRenames,
  newestChange,
  usageOf,
  usageOfMany,
} from './library-store.ts'
export { type ShownDir, shownDir } from './listing-order.ts'
export { deleteExpiredLocks, type FileLock } from './lock-store.ts'
export { findLockAt, lockedAmong, lockFile, locksOf, refreshLock, refuseLocked, unlockFile } from './locks.ts'
export { moveMerging } from './merge.ts'
export { copy, move } from './move-copy.ts'
export { listObjects, packObjects } from './object-listing.ts'
export { ObjectStore } from './object-store.ts'
export { Pace } from './pace.ts'
export { parsePasswordHashCost } from './password-hash.ts'
export { PathIndex } from './path-index.ts'
export { pathKey } from './path-key.ts'
export { purge } from './purge.ts'
export { push, receiveCommit, type SetAside } from './push.ts'
export { showsFile } from './reach.ts'
export { missingObjects, ObjectIntake } from './receive-objects.ts'
export { deleteReceivedBefore } from './received-store.ts'
export { RecentCommits } from './recent-commits.ts'
export {
  libraryRelation,
  libraryRowRelation,
  ownedBytes,
  positionRelation,
  viewRelation,
} from './relations.ts'
export { restoreEntries, revertFile, revertFolder, revertLibrary, type Wanted } from './revert.ts'
export { findOrigin, getCommitFor, getTreeAt, getTreeAtTime, treeOf } from './revisions.ts'
export { asSeen, baseOf, inOrigin, originOf } from './scope.ts'
export { pathsOf, type RoomLeft, type Selection, select } from './selection.ts'
export type { SentObject } from './sent-object.ts'
export { Slots } from './slots.ts'
export { getSmartLink, smartLinkTo } from './smart-links.ts'
export { addStar, isStarred, removeStar, starredIn, starredLibraries, starsOf } from './stars.ts'
export { folderAsOf, folderStays } from './sub-history.ts'
export {
  findSubLibraryInfos,
  lookThrough,
  subLibraryAt,
  subLibraryPlace,
  subLibraryToShare,
} from './sub-libraries.ts'
export {
  findSubLibraryAt,
  findSubLibraryByKey,
  findWithOrigin,
  listSubLibraries,
} from './sub-library-store.ts'
export { deleteReceivedSubCommitsBefore } from './sub-sync-store.ts'
export { findSyncedCommit, noteHead, noteShown, shownAmong } from './synced.ts'
export { findTrash, listTrashPage, type TrashPage, type TrashSearch } from './trash.ts'
export { listTrash, type TrashCursor, type TrashRow } from './trash-store.ts'
export { Tree } from './tree.ts'
export { TreeChanges } from './tree-changes.ts'
export { deleteUncommitted, deleteUncommittedBefore } from './uncommitted-store.ts'
export { addFiles, type NewFile, replaceFile } from './upload.ts'
export { entriesOnce, listBlocksOf, readAdded } from './walk-store.ts'
