import { fail } from '../../errors.ts'
import type { Library } from '../../library/index.ts'
import {
  type Dirent,
  type FileDirent,
  type LibraryPath,
  parseName,
  parsePath,
  ROOT,
  withSlash,
} from '../../objects/index.ts'
import type { StoredDir } from '../../tree/index.ts'
import type { SentPath } from './readers.ts'

/** A file of a library and where it is. */
export interface FoundFile {
  readonly path: LibraryPath
  readonly entry: FileDirent
}

export interface FoundFolder {
  readonly path: LibraryPath
  readonly stored: StoredDir
}

/** Throws path-not-found, for a folder too. */
export async function fileAt(library: Pick<Library, 'tree'>, sent: SentPath): Promise<FoundFile> {
  const entry = sent.path && (await library.tree.find(sent.path))
  if (sent.path !== undefined && entry?.kind === 'file') return { path: sent.path, entry }
  return fail({ code: 'path-not-found', path: asFile(sent), wanted: 'File' })
}

/** Throws path-not-found, for a file too, naming the folder as `shown`. */
export async function folderAt(library: Library, sent: SentPath, shown = sent.text): Promise<FoundFolder> {
  const stored = sent.path && (await library.tree.findDir(sent.path))
  if (sent.path !== undefined && stored !== undefined) return { path: sent.path, stored }
  return fail({ code: 'path-not-found', path: shown, wanted: 'Folder' })
}

/** What an update may replace: any one file below a folder, or `target`. Throws path-not-found. */
export async function updatePlaceAt(
  library: Library,
  sent: SentPath,
): Promise<{ path: LibraryPath; target: LibraryPath | undefined }> {
  const entry = sent.path && (await library.tree.find(sent.path))
  if (sent.path !== undefined && entry?.kind === 'file') return { path: sent.path, target: sent.path }
  return { path: (await folderAt(library, sent)).path, target: undefined }
}

/** A file or folder other than the root. Throws path-not-found. */
export async function entryAt(
  library: Library,
  sent: SentPath,
): Promise<{ path: LibraryPath; entry: Dirent }> {
  const entry = sent.path && (await library.tree.find(sent.path))
  if (sent.path !== undefined && entry !== undefined) return { path: sent.path, entry }
  return fail({ code: 'path-not-found', path: asFile(sent), wanted: 'File' })
}

/** The text of a file path as errors show it: one leading slash, none at the end. */
export function asFile({ path, text }: SentPath): string {
  return path ?? `/${text.replace(/^\/+|\/+$/g, '')}`
}

/** The text of a folder path as listings show it: a slash at both ends. */
export function asFolder(sent: SentPath): string {
  if (sent.path !== undefined) return withSlash(sent.path)
  return `${asFile(sent)}/`
}

/** Where something new is to be: the folder, which may not exist, and the name, undefined if it may not be one. */
export function newPlace(sent: SentPath): { parent: SentPath; name: string | undefined } {
  const text = asFile(sent)
  const slash = text.lastIndexOf('/')
  const parent = text.slice(0, slash) || ROOT
  return { parent: { text: parent, path: parsePath(parent) }, name: parseName(text.slice(slash + 1)) }
}
