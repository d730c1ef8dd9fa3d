import { below, type LibraryPath, ROOT, seenFrom } from '../objects/index.ts'
import type { LibraryInfo } from './library-info.ts'

/** What tells where in a stored library the paths of a library are. */
export type Scope = Pick<LibraryInfo, 'key' | 'sub'>

/** The library that has the content: of a sub-library its origin, else itself. */
export function originOf(library: LibraryInfo): LibraryInfo {
  return library.sub?.origin ?? library
}

/** The folder of the origin that the library shows. */
export function baseOf({ sub }: Scope): LibraryPath {
  return sub?.path ?? ROOT
}

/** Where a path of the library is in its origin. What is bound to paths is bound to these. */
export function inOrigin(library: Scope, path: LibraryPath): LibraryPath {
  return below(baseOf(library), path)
}

/** A path of the origin as the library shows it; undefined for what it does not show. */
export function asSeen(library: Scope, path: LibraryPath): LibraryPath | undefined {
  return seenFrom(baseOf(library), path)
}
