import { joinPath, type LibraryPath } from '../../base/paths/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { type ObjectStore, Tree } from '../../libraries/tree/index.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  countPhotos,
  findPosition,
  type IndexedPhoto,
  listPhotosAfter,
  listPhotosIn,
  type PhotoEntry,
} from './photo-store.ts'

const ROWS_PER_PAGE = 500

/** A row of the index that is not as the current tree says. */
interface PhotoFault {
  readonly path: LibraryPath
  readonly reason: string
}

interface CheckParts {
  readonly db: Database
  readonly objects: ObjectStore
}

/**
 * Compares the index with the photos of the head, which `photos` yields folder by folder. An index that is behind is not wrong: it catches up. Nothing that differs
 * counts once the index has gone on to a later commit.
 */
export async function* findPhotoFaults(
  parts: CheckParts,
  library: LibraryInfo,
  photos: AsyncIterable<PhotoEntry>,
): AsyncGenerator<PhotoFault, void> {
  const isAtHead = async () => {
    const position = await findPosition(parts.db, library.key)
    return position !== undefined && position.claim === 0 && position.root === library.root
  }
  if (!(await isAtHead())) return
  for await (const fault of comparePhotos(parts, library, photos)) {
    if (!(await isAtHead())) return
    yield fault
  }
}

async function* comparePhotos(
  { db, objects }: CheckParts,
  { key, root }: LibraryInfo,
  photos: AsyncIterable<PhotoEntry>,
): AsyncGenerator<PhotoFault, void> {
  let found = 0
  let folder: { readonly parent: LibraryPath; readonly rows: Map<string, IndexedPhoto> } | undefined
  for await (const photo of photos) {
    const { parent, name } = photo
    if (folder?.parent !== parent) {
      const rows = await listPhotosIn(db, key, parent)
      folder = { parent, rows: new Map(rows.map((row) => [row.name, row])) }
    }
    const row = folder.rows.get(name)
    if (row !== undefined) found += 1
    const reason = row === undefined ? 'it is not in the index of photos' : differenceOf(photo, row)
    if (reason !== undefined) yield { path: joinPath(parent, name), reason }
  }
  if (found === (await countPhotos(db, key))) return
  const tree = new Tree(objects, key, root)
  for (let after = 0; ; ) {
    const rows = await listPhotosAfter(db, key, after, ROWS_PER_PAGE)
    for (const { parent, name } of rows) {
      const path = joinPath(parent, name)
      if ((await tree.find(path))?.kind !== 'file')
        yield { path, reason: 'the index has a photo that is not there' }
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.key
  }
}

function differenceOf(photo: PhotoEntry, row: IndexedPhoto): string | undefined {
  if (photo.fileId !== row.fileId || photo.kind !== row.kind) return 'the index has another content'
  if (photo.size !== row.size || photo.mtime !== row.mtime) return 'the index has another size or time'
  return row.isDated ? undefined : 'the index has it at another date'
}
