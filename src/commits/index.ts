export type { Also } from './also.ts'
export { CommitFollower, isGone, refuseDeleted } from './commit-follower.ts'
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
export {
  deleteReceivedCommitsBefore,
  findAnyCommit,
  findCommit,
  insertCommits,
  insertReceivedCommit,
  listCommitsBySeq,
  listCommitsDown,
  listMergedCommits,
  type NumberedCommit,
  seqAtTime,
} from './commit-store.ts'
export { countAllDirs } from './dir-count-backfill.ts'
export { followedSeq, moveFollower, writeFollowed } from './follower-store.ts'
export { type EntryLimits, Growth, type GrowthGuard, tooManyEntries } from './growth-limits.ts'
export type { LibraryInfo, LibraryName, LibraryStatus, LibrarySummary, SubLibrary } from './library-info.ts'
export {
  claimForPurge,
  deleteLibraryRow,
  findDeletedLibrary,
  findLibraries,
  findLibrary,
  findLibraryByKey,
  findLibraryWithDeleted,
  findOwnerKeys,
  holdHead,
  insertLibrary,
  insertRename,
  type LibraryHead,
  type LibraryRow,
  libraryFromRow,
  listAllLibrariesOf,
  listDeletedLibrariesOf,
  listLibrariesOf,
  listLibraryHeads,
  listLibraryKeys,
  listLibraryKeysOf,
  listLibraryNamesOf,
  listRenames,
  markAllDeleted,
  markDeleted,
  newestChange,
  raiseValidSince,
  setEncryption,
  setHistoryDays,
  setLibraryText,
  setOwner,
  setOwnerOfAll,
  unmarkDeleted,
  usageOf,
  usageOfMany,
} from './library-store.ts'
export { asSeen, baseOf, inOrigin, originOf, type Scope } from './origin-paths.ts'
export { RecentCommits } from './recent-commits.ts'
export {
  libraryRelation,
  libraryRowRelation,
  ownedBytes,
  positionRelation,
  viewRelation,
} from './relations.ts'
export { type Committed, type Edit, type Edited, Writers } from './writer.ts'
