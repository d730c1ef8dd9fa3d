export { CommitConsumer, isGone } from './commit-consumer.ts'
export {
  describeAdded,
  describeAddedDirs,
  describeChangedPassword,
  describeConflict,
  describeConflicts,
  describeCreatedLibrary,
  describeDeleted,
  describeMerged,
  describeModified,
  describeMoved,
  describeRenamed,
  describeRenamedLibrary,
  describeRestored,
  describeRevertedLibrary,
  describeUploaded,
  isRecovery,
} from './commit-messages.ts'
export { type CommitStatistics, registerCommitMetrics } from './commit-statistics.ts'
export {
  deleteCommitsBelow,
  deleteReceivedCommitsBefore,
  findAnyCommit,
  findCommit,
  type ImportedCommit,
  insertCommits,
  insertImportedCommits,
  insertReceivedCommit,
  listCommitsBySeq,
  listCommitsDown,
  listKeysWithReceivedCommits,
  listMergedCommits,
  listReceivedCommits,
  type NumberedCommit,
  seqAtTime,
  setReceivedParent,
} from './commit-store.ts'

export {
  consumerPosition,
  listPositions,
  moveConsumer,
  slowestPosition,
  writeFollowed,
} from './consumer-store.ts'

export { commitRows, positionRows } from './dependent-rows-store.ts'
export type { LibraryDependent, LibraryTransfer } from './dependents.ts'
export {
  type DerivedPosition,
  type DerivedStep,
  type ModuleConsumer,
  refuseDeleted,
} from './derived-module.ts'
export type { Companion, CompanionRows, DerivedRows } from './derived-rows.ts'
export { countAllDirs } from './dir-count-backfill.ts'
export { type Committed, type Edit, EditConflict, type Edited } from './edit.ts'
export { countFutureCommits, repairFutureCommits } from './future-times-store.ts'
export { type EntryLimits, type GrowthGuard, GrowthLimits, tooManyEntries } from './growth-limits.ts'
export type { LibraryInfo, LibraryName, LibraryStatus, LibrarySummary, SubLibrary } from './library-info.ts'
export { type LibraryState, listLibraryStates } from './library-state-store.ts'
export {
  abandonRestores,
  claimForPurge,
  countLibrariesOf,
  deleteLibraryRow,
  deleteRenamesBelow,
  entriesOf,
  findDeletedLibrary,
  findLibraries,
  findLibrary,
  findLibraryByKey,
  findLibraryKey,
  findLibraryWithDeleted,
  findOwnerKeys,
  holdHead,
  insertLibrary,
  insertRename,
  insertRestoredLibrary,
  type LibraryHead,
  type LibraryRow,
  libraryFromRow,
  listAllLibrariesOf,
  listAllLibraryKeys,
  listDeletedBefore,
  listDeletedLibrariesOf,
  listLibrariesAt,
  listLibrariesOf,
  listLibraryHeads,
  listLibraryKeys,
  listLibraryKeysOf,
  listLibraryNamesOf,
  listRenames,
  markAllDeleted,
  markDeleted,
  newestChange,
  publishRestoredLibrary,
  raiseObjectsEpoch,
  raiseValidSince,
  setEncryption,
  setHistoryDays,
  setLibraryStatus,
  setLibrarySums,
  setLibraryText,
  setOwner,
  setOwnerOfAll,
  setOwnerOfDeleted,
  unmarkDeleted,
  usageOf,
  usageOfMany,
} from './library-store.ts'
export { asSeen, baseOf, inOrigin, originOf, type Scope } from './origin-paths.ts'
export { type PathBinding, tableBinding } from './path-bindings.ts'
export { RecentCommits } from './recent-commits.ts'
export {
  commitRelation,
  fileSizeSum,
  libraryRelation,
  libraryRowRelation,
  ownedBytes,
  positionRelation,
} from './relations.ts'
export type { TransactionHook } from './transaction-hook.ts'
export { Writers } from './writer.ts'
