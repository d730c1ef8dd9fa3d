import type { FileDirent, LibraryPath } from '../../objects/index.ts'
import { hasThumbnail } from '../../previews/index.ts'
import { encodePath } from '../common/wire-formats.ts'

/** The relative URL of a thumbnail; undefined if the file can have none. `where` is a library id or a link token. */
export function thumbnailSrc(
  where: string,
  size: number,
  path: LibraryPath,
  entry: Pick<FileDirent, 'name' | 'size'>,
): string | undefined {
  return hasThumbnail(entry) ? `thumbnail/${where}/${size}${encodePath(path)}` : undefined
}
