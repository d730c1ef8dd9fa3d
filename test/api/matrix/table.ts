import { accountRoutes } from './account-routes.ts'
import { adminRoutes } from './admin-routes.ts'
import { libraryRoutes } from './library-routes.ts'
import type { Table } from './policy.ts'
import { sharingRoutes } from './sharing-routes.ts'
import { syncRoutes } from './sync-routes.ts'
import { tokenRoutes } from './token-routes.ts'
import { transferRoutes } from './transfer-routes.ts'
import { visitRoutes } from './visit-routes.ts'
import { webdavRoutes } from './webdav-routes.ts'

/** The calls and callers of every route. The role matrix and the revocation matrix are generated from it. */
export const table: Table = {
  ...accountRoutes,
  ...adminRoutes,
  ...libraryRoutes,
  ...sharingRoutes,
  ...syncRoutes,
  ...tokenRoutes,
  ...transferRoutes,
  ...visitRoutes,
  ...webdavRoutes,
}
