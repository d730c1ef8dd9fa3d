export {
  expectNotMoved,
  FolderMoved,
  filePlace,
  subLibraryPlace,
  subLibraryToShare,
  updateSubLibraryPaths,
} from './sub-libraries.ts'
export {
  findSubLibrary,
  findSubLibraryAt,
  findSubLibraryByKey,
  findWithOrigin,
  listSubLibraries,
  putSubLibrary,
  replacePasswordChecks,
  setPasswordCheck,
  viewBinding,
  viewCommitRelation,
  viewRelation,
  viewRows,
} from './sub-library-store.ts'
export {
  deleteReceivedSubCommitsBefore,
  deleteViewCommitsBelow,
  deleteViewObjects,
  findSubCommit,
  findSubObjects,
  insertSubCommit,
  insertSubObjects,
  joinSubCommits,
  listViewRoots,
} from './view-sync-store.ts'
export { Views } from './views.ts'
