import type { Account } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'

/** Declares a call for the server itself, which uses no service. */
export const route = routesFor<Account, unknown>()
