// The constructors of library handles, and the stores that lists of libraries are read from. Only `access` may import this file, because it is the only module that
// checks permissions: no other module can create a handle (I8). `index.ts` exports the handles as types only.
export { storesOf } from './core.ts'
export { AdministeredLibrary, Library, OwnedLibrary } from './library.ts'
