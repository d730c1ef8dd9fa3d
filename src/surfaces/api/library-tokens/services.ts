import type { Search } from '../../../derived/search/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import type { Confirmations, ScopedTokens } from '../../../people/credentials/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access } from '../../../sharing/access/index.ts'

/** What the calls for library tokens use. */
export interface LibraryTokenServices {
  readonly access: Access
  /** Who may make credentials that outlive their session. */
  readonly confirmations: Confirmations
  readonly scopedTokens: ScopedTokens
  readonly search: Search
}

/** Declares a call for library tokens. */
export const route = routesFor<Account, LibraryTokenServices>()
