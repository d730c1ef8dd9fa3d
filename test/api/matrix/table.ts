import type { Callers } from '../../../src/platform/http/route.ts'
import { apiRoutes } from '../../../src/surfaces/api/index.ts'
import { accountRoutes } from './account-routes.ts'
import { adminRoutes } from './admin-routes.ts'
import { libraryRoutes } from './library-routes.ts'
import {
  administers,
  type Entry,
  manages,
  open,
  owns,
  type Policy,
  reads,
  self,
  type Table,
  writes,
} from './policy.ts'
import { sharingRoutes } from './sharing-routes.ts'
import { syncRoutes } from './sync-routes.ts'
import { tokenRoutes } from './token-routes.ts'
import { transferRoutes } from './transfer-routes.ts'
import { visitRoutes } from './visit-routes.ts'
import { webdavRoutes } from './webdav-routes.ts'

const POLICIES: Readonly<Record<Callers, Policy>> = {
  anyone: open,
  'every account': self,
  readers: reads,
  writers: writes,
  managers: manages,
  'the owner': owns,
  administrators: administers,
}

/** The calls that routes declare themselves. */
const declared = apiRoutes.flatMap(({ method, path, callers, sample = {} }): [string, Entry][] =>
  callers === undefined ? [] : [[`${method} ${path}`, { policy: POLICIES[callers], send: () => sample }]],
)

/** Calls that need an item of the stage, or have outcomes of their own. */
const listed: Table = {
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

const twice = declared.flatMap(([name]) => (name in listed ? [name] : []))
if (twice.length > 0)
  throw new Error(`The route says who calls it, and test/api/matrix/ too: ${twice.join(', ')}`)

/** The calls and callers of every route. The role matrix and the revocation matrix are generated from it. */
export const table: Table = {
  ...Object.fromEntries(declared),
  ...listed,
}
