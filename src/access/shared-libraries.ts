import type { LibraryInfo } from '../commits/index.ts'
import type { Database } from '../database/index.ts'
import type { LibraryCore, Permission } from '../library/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import { capped } from './grant.ts'
import { librarySharesOf, type Share, type ShareQuery } from './share-store.ts'

/** A share, and the library or sub-library it shows to those it is for. */
export interface SharedLibrary extends Share {
  readonly info: LibraryInfo
  /** What it gives now: a read-only library is for reading. */
  readonly permission: Permission
}

/** One query for all; folders are looked up in trees that are mostly in memory. Newest change first. */
export async function listShared(
  db: Database,
  core: LibraryCore,
  query: ShareQuery,
): Promise<SharedLibrary[]> {
  const shared: SharedLibrary[] = []
  const pace = new TimeSlicer()
  for (const { library, sub, ...share } of await librarySharesOf(db, query)) {
    const info = sub === undefined ? library : await core.views.resolveSubLibrary(library, sub)
    if (info !== undefined) shared.push({ ...share, info, permission: capped(share.permission, info) })
    if (pace.isDue) await pace.rest()
  }
  return shared.sort((one, other) => other.info.updatedAt - one.info.updatedAt)
}
