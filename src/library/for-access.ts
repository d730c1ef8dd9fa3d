// The constructors of library handles. Only `access` may import this file: it is the one module that checks permissions,
// so no other module can make a handle (I8). `index.ts` exports the handles as types only.
export { AdministeredLibrary, Library, OwnedLibrary } from './library.ts'
