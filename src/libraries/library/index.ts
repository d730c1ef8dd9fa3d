export { changeStatus, libraryTotals, listLibraryPage, setKeepDays } from './administration.ts'
export type { ListedLibrary } from './administration-store.ts'
export { createLibraryCore, type IncomingContent, type LibraryCore } from './core.ts'
export { ensureDefaultLibrary, findDefaultLibrary } from './default-library.ts'
export {
  createLibrary,
  deleteLibrariesOf,
  deleteLibrary,
  getLibrary,
  type LibraryOptions,
  libraryExists,
  renameLibrary,
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
export { emptyTrash, libraryTrash } from './library-trash.ts'
export { type FileLock, lockBinding, lockRows } from './lock-store.ts'
export { fileLocks } from './locks.ts'
export { viewHeads } from './view-heads.ts'
export { lockTokens } from './webdav-locks.ts'
