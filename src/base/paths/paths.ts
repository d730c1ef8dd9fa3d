import { toNfc } from './names.ts'

/** A path within a library: absolute, NFC, no trailing slash except for the root. */
export type LibraryPath = string & { readonly __path: true }

export const ROOT = '/' as LibraryPath

const MAX_PATH_LENGTH = 16_384

/**
 * Normalizes a path from a client: slashes are added, collapsed and dropped as needed. Undefined for `.` and `..`
 * segments, NUL and ill-formed text. Backslashes and control characters stay: synced trees may contain them.
 */
export function parsePath(text: string): LibraryPath | undefined {
  if (text.length > MAX_PATH_LENGTH || text.includes('\0') || !text.isWellFormed()) return undefined
  let path = toNfc(`/${text}`)
  if (path.includes('//')) path = path.replace(/\/{2,}/g, '/')
  if (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1)
  return /\/\.\.?(?:\/|$)/.test(path) ? undefined : (path as LibraryPath)
}

/** The path segments; none for the root. */
export function segmentsOf(path: LibraryPath): string[] {
  return path === ROOT ? [] : path.slice(1).split('/')
}

/** The folder a path is in; the root is its own parent. */
export function parentOf(path: LibraryPath): LibraryPath {
  return (path.slice(0, path.lastIndexOf('/')) || ROOT) as LibraryPath
}

/** The last name of a path; empty for the root. */
export function baseName(path: LibraryPath): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The path of a name in a folder. The name must be one component. */
export function joinPath(parent: LibraryPath, name: string): LibraryPath {
  return (parent === ROOT ? `/${name}` : `${parent}/${name}`) as LibraryPath
}

/** Joins a folder and a path relative to it. */
export function below(folder: LibraryPath, path: LibraryPath): LibraryPath {
  if (path === ROOT) return folder
  return folder === ROOT ? path : ((folder + path) as LibraryPath)
}

/** The path relative to a folder; undefined if it is not in the folder. */
export function seenFrom(folder: LibraryPath, path: LibraryPath): LibraryPath | undefined {
  if (folder === ROOT) return path
  if (path === folder) return ROOT
  return path.startsWith(`${folder}/`) ? (path.slice(folder.length) as LibraryPath) : undefined
}

/** Whether a path is the ancestor or lies below it. */
export function isWithin(path: LibraryPath, ancestor: LibraryPath): boolean {
  return path === ancestor || path.startsWith(withSlash(ancestor))
}

/** A path and its ancestors, the root last. */
export function selfAndAbove(path: LibraryPath): LibraryPath[] {
  const paths = [path]
  for (let at = path; at !== ROOT; ) paths.push((at = parentOf(at)))
  return paths
}

/** Number of segments: 0 for the root. */
export function depth(path: LibraryPath): number {
  if (path === ROOT) return 0
  let slashes = 0
  for (let at = 0; at >= 0; at = path.indexOf('/', at + 1)) slashes++
  return slashes
}

/** The folder form of a path: `/a/`, and `/` for the root. */
export function withSlash(path: LibraryPath): string {
  return path === ROOT ? path : `${path}/`
}
