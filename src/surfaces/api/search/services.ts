import type { AnnotationQuery, findAnnotated, findCommented } from '../../../derived/annotations/index.ts'
import type { Query, Search } from '../../../derived/search/index.ts'
import type { Account, Accounts, Directory } from '../../../people/accounts/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Access } from '../../../sharing/access/index.ts'

/** What the calls for search use. */
export interface SearchServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly directory: Directory
  /** Finds files by their comments and tags. */
  readonly findAnnotated: (
    query: AnnotationQuery,
    place: Parameters<typeof findAnnotated>[2],
  ) => ReturnType<typeof findAnnotated>
  /** Finds files by words in comments on them. */
  readonly findCommented: (
    query: Query,
    place: Parameters<typeof findCommented>[2],
  ) => ReturnType<typeof findCommented>
  readonly search: Search
}

/** Declares a call for search. */
export const route = routesFor<Account, SearchServices>()
