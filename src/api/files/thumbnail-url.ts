import type { FileDirent, LibraryPath } from '../../objects/index.ts'
import { hasThumbnail } from '../../previews/index.ts'
import { encodePath } from '../common/wire-formats.ts'

/** Where a file's thumbnail is, without the base; undefined if it can have none. `where` is a library id or a link. */
export function thumbnailSrc(
  where: string,
  size: number,
  path: LibraryPath,
  entry: Pick<FileDirent, 'name' | 'size'>,
): string | undefined {
  return hasThumbnail(entry) ? `thumbnail/${where}/${size}${encodePath(path)}` : undefined
}
