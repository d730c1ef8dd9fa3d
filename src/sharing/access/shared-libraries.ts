import { TimeSlicer } from '../../base/scheduling/index.ts'
import { storesOf } from '../../libraries/library/for-access.ts'
import type { LibraryCore, Permission } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { capped } from './grant.ts'
import { isShareExpired, librarySharesOf, type Share, type ShareQuery } from './share-store.ts'

/** A share, and the library or sub-library that its grantee sees. */
export interface SharedLibrary extends Share {
  readonly info: LibraryInfo
  /** The effective permission: at most `r` in a read-only library. */
  readonly permission: Permission
}

/**
 * One query for all shares; folders are looked up in mostly cached trees. Most recently changed first. Expired
 * shares are listed only to the owner. Existing clients know libraries and folders, so shared files are listed
 * separately, by `files`.
 */
export async function listShared(
  db: Database,
  core: LibraryCore,
  query: ShareQuery,
  { files = false } = {},
): Promise<SharedLibrary[]> {
  const shared: SharedLibrary[] = []
  const slicer = new TimeSlicer()
  const withExpired = 'ownedBy' in query
  const now = core.now()
  for (const { library, sub, ...share } of await librarySharesOf(db, query)) {
    if ((sub?.isFile ?? false) !== files || (!withExpired && isShareExpired(share, now))) continue
    const info = sub === undefined ? library : await storesOf(core).views.resolveSubLibrary(library, sub)
    if (info !== undefined) shared.push({ ...share, info, permission: capped(share.permission, info) })
    if (slicer.isDue) await slicer.rest()
  }
  return shared.sort((one, other) => other.info.updatedAt - one.info.updatedAt)
}
