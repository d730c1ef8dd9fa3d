import type { FileDirent } from '../../../base/objects/index.ts'
import type { LibraryPath } from '../../../base/paths/index.ts'
import { alwaysHasThumbnail } from '../../../derived/previews/index.ts'
import { encodePath } from './wire-formats.ts'

/** The relative URL of a thumbnail; undefined if the file may have none. `where` is a library id or a link token. */
export function thumbnailSrc(
  where: string,
  size: number,
  path: LibraryPath,
  entry: Pick<FileDirent, 'name' | 'size'>,
): string | undefined {
  return alwaysHasThumbnail(entry) ? thumbnailUrl(where, size, path) : undefined
}

/** Where a thumbnail is served. */
export function thumbnailUrl(where: string, size: number, path: LibraryPath): string {
  return `thumbnail/${where}/${size}${encodePath(path)}`
}
