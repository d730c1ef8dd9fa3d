export { showsFile } from './contains-file.ts'
export {
  FolderMoved,
  findSubLibraryInfos,
  lookThrough,
  refuseMoved,
  settleSubLibraries,
  subLibraryAt,
  subLibraryPlace,
  subLibraryToShare,
  writeSettled,
} from './sub-libraries.ts'
export {
  findSubLibrary,
  findSubLibraryAt,
  findSubLibraryByKey,
  findWithOrigin,
  listSubLibraries,
} from './sub-library-store.ts'
export { Views } from './views.ts'
