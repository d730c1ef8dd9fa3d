// The constructors of library handles. Only `access` may import this file, because it is the only module that
// checks permissions: no other module can create a handle (I8). `index.ts` exports the handles as types only.
export { AdministeredLibrary, Library, OwnedLibrary } from './library.ts'
