import type { Route } from '../http/index.ts'
import type { Account } from '../identity/index.ts'
import { blockRoutes } from './blocks.ts'
import { commitRoutes } from './commits.ts'
import { headRoutes } from './heads.ts'
import { notificationRoutes } from './notification-routes.ts'
import { objectRoutes } from './objects.ts'
import { rightRoutes } from './rights.ts'
import type { SyncServices } from './services.ts'

/** The protocol of the desktop clients; its errors are a status and a line of plain text. */
export const syncRoutes: readonly Route<Account, SyncServices>[] = [
  ...headRoutes,
  ...commitRoutes,
  ...objectRoutes,
  ...blockRoutes,
  ...rightRoutes,
  ...notificationRoutes,
]
