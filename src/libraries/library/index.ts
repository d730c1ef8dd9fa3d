export { addTree } from './add-tree.ts'
export {
  changeStatus,
  libraryTotals,
  listLibraryPage,
  purgeAllDeleted,
  restoreTo,
  setKeepDays,
} from './administration.ts'
export type { ListedLibrary } from './administration-store.ts'
export { type BoundPathMove, listBoundPaths, rebind } from './bound-paths-store.ts'
export { createLibraryCore, type LibraryCore } from './core.ts'
export {
  type CopyObserver,
  copyBetweenLibraries,
  deleteCopied,
  type RemovalObserver,
  refuseUndecrypted,
} from './cross-library-copy.ts'
export { ensureDefaultLibrary, findDefaultLibrary } from './default-library.ts'
export { deleteRowsOfAccount, libraryBindings, libraryRows } from './dependent-rows-store.ts'
export { emptyTrash } from './empty-trash.ts'
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
export { copyTo, makeFolderAt, moveTo, type PlaceOutcome, putFile, setTime } from './exact-paths.ts'
export { checksumsOf, type FileChecksums, keepChecksums } from './file-checksums.ts'
export {
  createLibrary,
  deletedLibrariesOf,
  deleteLibrariesOf,
  deleteLibrary,
  getDeletedLibrary,
  getLibrary,
  type LibraryOptions,
  libraryExists,
  purgeDeletedBefore,
  purgeLibrary,
  renameLibrary,
  restoreLibrary,
  transferAllLibraries,
  transferLibrary,
} from './libraries.ts'
export type {
  Actor,
  AdministeredLibrary,
  EditableLibrary,
  Library,
  OwnedLibrary,
  Permission,
  Ready,
  Right,
} from './library.ts'
export type { LibraryEvent } from './library-events.ts'
export { changePassword, lockLibrary, openWithPassword, viewWithPassword } from './library-password.ts'
export { covers } from './lock-rights.ts'
export { deleteExpiredLocks, type FileLock } from './lock-store.ts'
export {
  findLockAt,
  isHeldBy,
  lockedAmong,
  lockFile,
  refreshLock,
  refuseLocked,
  seenLocks,
  unlock,
} from './locks.ts'
export { moveMerging } from './merge.ts'
export { copy, move } from './move-copy.ts'
export { placeRestored } from './place-restored.ts'
export {
  changeProperties,
  type PropertySizes,
  propertiesOf,
  propertiesOfAll,
  propertySizesIn,
} from './properties.ts'
export type { DeadProperty } from './property-store.ts'
export { purge } from './purge.ts'
export { restoreEntries, revertFile, revertFolder, revertLibrary, type Wanted } from './revert.ts'
export { pathsOf, type RoomLeft, type Selection, select } from './selection.ts'
export { getSmartLink, smartLinkTo } from './smart-links.ts'
export { insertStar } from './star-store.ts'
export { addStar, isStarred, removeStar, starredIn, starredLibraries, starsOf } from './stars.ts'
export { addFiles, addFolder, modificationTime, type NewFile, replaceFile } from './upload.ts'
export { dropToken, holdsToken, MAX_HOLDERS, refreshToken, takeToken } from './webdav-locks.ts'
