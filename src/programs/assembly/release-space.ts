import type { Thumbnails } from '../../derived/previews/index.ts'
import type { Search } from '../../derived/search/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { Database } from '../../platform/database/index.ts'

interface SpaceParts {
  readonly core: LibraryCore
  readonly db: Database
  readonly search: Search
  readonly thumbnails: Thumbnails
}

/**
 * Follows garbage collection: deletes what was derived from deleted files, removes deleted content from the pages of the databases, and gives
 * the pages back to the file system. Resolves to the bytes that the databases gave back. `atOnce` for an operator who waits for it.
 */
export async function releaseSpace(
  { core, db, search, thumbnails }: SpaceParts,
  signal: AbortSignal,
  { atOnce = false } = {},
): Promise<number> {
  const { objects } = storesOf(core)
  await thumbnails.deleteUnreferenced((libraryKey, ids) => objects.findStored(libraryKey, ids))
  await search.merging.eraseDeleted(signal, { atOnce })
  const released = await db.releaseFreePages(signal)
  return search.db === db ? released : released + (await search.db.releaseFreePages(signal))
}
