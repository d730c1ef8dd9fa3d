import type { Account } from '../../people/accounts/index.ts'
import type { Route } from '../../platform/http/index.ts'
import { blockRoutes } from './blocks.ts'
import { commitRoutes } from './commits.ts'
import { headRoutes } from './heads.ts'
import { objectRoutes } from './objects.ts'
import { rightRoutes } from './rights.ts'
import { route, type SyncServices } from './services.ts'

const notificationRoutes = [
  route({
    method: 'GET',
    path: '/notification/ping',
    auth: 'none',
    summary: 'Reports that change notifications are available over a WebSocket at `/notification`.',
    handle: () => ({ ret: 'pong' }),
  }),
]

/** The protocol of the desktop clients; its errors are a status and a line of plain text. */
export const syncRoutes: readonly Route<Account, SyncServices>[] = [
  ...headRoutes,
  ...commitRoutes,
  ...objectRoutes,
  ...blockRoutes,
  ...rightRoutes,
  ...notificationRoutes,
]
