export { addTree } from './add-tree.ts'
export { type BoundPathMove, boundPaths } from './bound-paths-store.ts'
export {
  type CopyObserver,
  copyBetweenLibraries,
  deleteCopied,
  type RemovalObserver,
  refuseUndecrypted,
} from './cross-library-copy.ts'
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
export { moveMerging } from './merge.ts'
export { copy, move } from './move-copy.ts'
export { placeRestored } from './place-restored.ts'
export { renameMany } from './rename-many.ts'
export { restoreEntries, revertFile, revertFolder, revertLibrary } from './revert.ts'
export { pathsOf, type RoomLeft, type Selection, select } from './selection.ts'
export { addFiles, addFolder, modificationTime, type NewFile, replaceFile } from './upload.ts'
