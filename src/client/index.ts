export { makeFolders, move, remove } from './change.ts'
export { completePath, completionScript, type Shell } from './complete.ts'
export { type CopyOptions, copy } from './copy.ts'
export { type DiffOptions, diff, type LogOptions, log, restore } from './history.ts'
export {
  type ImportOptions,
  importDir,
  importRclone,
  importWebdav,
  type WebdavImportOptions,
} from './import.ts'
export { type FindOptions, find, type ListOptions, list, type SearchOptions, search, tree } from './list.ts'
export { type LoginOptions, login, logout, unlock } from './login.ts'
export { type CatOptions, cat } from './read.ts'
export type { CommonOptions } from './session.ts'
export { type ShareOptions, share } from './share.ts'
export { type SyncOptions, syncOnce } from './sync-once.ts'
