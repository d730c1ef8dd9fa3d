import { baseName, below, joinPath, type LibraryPath, ROOT, seenFrom } from '../../base/paths/index.ts'
import type { LibraryInfo } from './library-info.ts'

/** Maps paths of a library to paths of its origin. */
export type Scope = Pick<LibraryInfo, 'key' | 'sub'>

/** The library that has the content: the origin of a sub-library, otherwise the library itself. */
export function originOf(library: LibraryInfo): LibraryInfo {
  return library.sub?.origin ?? library
}

/** The root of the library within its origin; for a view of one file, that file. */
export function baseOf({ sub }: Scope): LibraryPath {
  return sub?.path ?? ROOT
}

/**
 * The path within the origin. Path bindings use these paths. A view of one file names nothing but that file:
 * any other path is mapped below the file, where nothing can be.
 */
export function inOrigin(library: Scope, path: LibraryPath): LibraryPath {
  const { sub } = library
  if (sub?.isFile && path === joinPath(ROOT, baseName(sub.path))) return sub.path
  return below(baseOf(library), path)
}

/** A path of the origin as a path of the library; undefined if it is outside. */
export function asSeen(library: Scope, path: LibraryPath): LibraryPath | undefined {
  const { sub } = library
  if (sub?.isFile) return path === sub.path ? joinPath(ROOT, baseName(path)) : undefined
  return seenFrom(baseOf(library), path)
}
