import { fail } from '../../../base/errors.ts'
import type { Dirent, FileDirent } from '../../../base/objects/index.ts'
import { type LibraryPath, parseName, parsePath, ROOT, withSlash } from '../../../base/paths/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import type { StoredDir } from '../../../libraries/tree/index.ts'
import type { SentPath } from './readers.ts'

/** A file of a library and its path. */
export interface FoundFile {
  readonly path: LibraryPath
  readonly entry: FileDirent
}

export interface FoundFolder {
  readonly path: LibraryPath
  readonly stored: StoredDir
}

/** Throws path-not-found, also for a folder. */
export async function fileAt(library: Pick<Library, 'tree'>, sent: SentPath): Promise<FoundFile> {
  const entry = sent.path && (await library.tree.find(sent.path))
  if (sent.path !== undefined && entry?.kind === 'file') return { path: sent.path, entry }
  return fail({ code: 'path-not-found', path: filePathText(sent), wanted: 'File' })
}

/** Throws path-not-found with the path `shown`, also for a file. */
export async function folderAt(library: Library, sent: SentPath, shown = sent.text): Promise<FoundFolder> {
  const stored = sent.path && (await library.tree.findDir(sent.path))
  if (sent.path !== undefined && stored !== undefined) return { path: sent.path, stored }
  return fail({ code: 'path-not-found', path: shown, wanted: 'Folder' })
}

/** The target of an update: any one file below a folder, or `target`. Throws path-not-found. */
export async function updateTargetAt(
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
  return fail({ code: 'path-not-found', path: filePathText(sent), wanted: 'File' })
}

/** A file path for error messages: one leading slash, no trailing one. */
export function filePathText({ path, text }: SentPath): string {
  return path ?? `/${text.replace(/^\/+|\/+$/g, '')}`
}

/** A folder path for listings: with leading and trailing slash. */
export function folderPathText(sent: SentPath): string {
  if (sent.path !== undefined) return withSlash(sent.path)
  return `${filePathText(sent)}/`
}

/** The parent folder, which may not exist, and the name of a new entry; undefined if the name is invalid. */
export function splitNewPath(sent: SentPath): { parent: SentPath; name: string | undefined } {
  const text = filePathText(sent)
  const slash = text.lastIndexOf('/')
  const parent = text.slice(0, slash) || ROOT
  return { parent: { text: parent, path: parsePath(parent) }, name: parseName(text.slice(slash + 1)) }
}
