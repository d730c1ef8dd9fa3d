export { makeFolders, move, moveEntries, refuseRoot, remove } from './change.ts'
export { ClientError, EXIT } from './client-error.ts'
export { changedPaths, fileDiff } from './compare.ts'
export { completePath, completionScript, type Shell } from './complete.ts'
export { type CopyOptions, copy, copyEntries } from './copy.ts'
export { type DiffOptions, diff, type LogOptions, log, restore, restorePath } from './history.ts'
export {
  type ImportOptions,
  importDir,
  importRclone,
  importWebdav,
  type WebdavImportOptions,
} from './import.ts'
export {
  type FindOptions,
  find,
  type ListOptions,
  list,
  plainExcerpt,
  type SearchOptions,
  search,
  stateOf,
  tree,
} from './list.ts'
export { type LoginOptions, login, logout, unlock } from './login.ts'
export { type CatOptions, cat } from './read.ts'
export { joinRemote, Libraries, nameOfRemote, parentOfRemote } from './remote-path.ts'
export { readSecret } from './secret-input.ts'
export type { RemoteEntry } from './select.ts'
export {
  type CallContext,
  type CommonOptions,
  findLogin,
  findServer,
  reportFailure,
  serverUrl,
  userAgent,
} from './session.ts'
export { type ShareOptions, share } from './share.ts'
export { type SyncOptions, syncOnce } from './sync-once.ts'
export { note, shown } from './terminal.ts'
export { zipFiles } from './zip-files.ts'
