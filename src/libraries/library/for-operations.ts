// The database and the stores of the libraries. Only the modules with operations on handles may import this file: each of them takes a handle, which
// proves the permission of its actor (I8).
export { dbOf, storesOf } from './core.ts'
export { editableOrigin } from './library.ts'
export { isLockable, newEntryIn } from './locks.ts'
