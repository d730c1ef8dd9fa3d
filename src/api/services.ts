import type { Access } from '../access/access.ts'
import type { LibraryPasswords } from '../access/library-passwords.ts'
import type { Links } from '../access/links.ts'
import type { Quotas } from '../access/quota.ts'
import type { Shares } from '../access/shares.ts'
import type { Tickets } from '../access/tickets.ts'
import type { ActivityRoom } from '../activity/activity.ts'
import type { Audit } from '../audit/audit.ts'
import { routesFor } from '../http/route.ts'
import type { Account } from '../identity/account.ts'
import type { Accounts } from '../identity/accounts.ts'
import type { ApiTokens } from '../identity/api-tokens.ts'
import type { Avatars } from '../identity/avatars.ts'
import type { Directory } from '../identity/directory.ts'
import type { Groups } from '../identity/groups.ts'
import type { Login } from '../identity/login.ts'
import type { PasswordChecks } from '../identity/password-checks.ts'
import type { ScopedTokens } from '../identity/scoped-tokens.ts'
import type { SyncTokens } from '../identity/sync-tokens.ts'
import type { WebdavSecrets } from '../identity/webdav-secrets.ts'
import type { LibraryCore } from '../library/core.ts'
import type { LibraryPath } from '../objects/paths.ts'
import type { DocumentTexts } from '../previews/document-texts.ts'
import type { Thumbnails } from '../previews/thumbnails.ts'
import type { Search } from '../search/search.ts'
import type { ServerState } from '../usage/server-state.ts'
import type { Statistics } from '../usage/statistics.ts'
import type { Usage } from '../usage/usage.ts'
import type { Archives } from './archives.ts'
import type { CopyMoveTasks } from './copy-move-tasks.ts'

/** Files that arrive in chunks. */
export interface PartialUploads {
  /** How many bytes of a file are stored. */
  uploadedBytes(key: {
    libraryKey: number
    accountKey: number
    linkKey: number
    path: LibraryPath
  }): Promise<number>
}

/** How the chores of upkeep went the last time. */
export interface Chores {
  list(): readonly {
    readonly name: string
    /** Unix seconds. */
    readonly endedAt: number
    readonly durationMs: number
    readonly failed: boolean
  }[]
}

/** What the routes of the web API work with. */
export interface ApiServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly activity: ActivityRoom
  readonly apiTokens: ApiTokens
  readonly archives: Archives
  readonly audit: Audit
  readonly avatars: Avatars
  readonly chores: Chores
  readonly copyMoveTasks: CopyMoveTasks
  readonly core: LibraryCore
  readonly directory: Directory
  readonly documentTexts: DocumentTexts
  readonly libraryPasswords: LibraryPasswords
  readonly groups: Groups
  readonly links: Links
  readonly login: Login
  /** Unix seconds. */
  readonly now: () => number
  readonly passwordChecks: PasswordChecks
  readonly partialUploads: PartialUploads
  readonly quotas: Quotas
  readonly shares: Shares
  /** The status of a link refused because its library's owner is out of quota. */
  readonly quotaStatus: 443 | 500
  readonly search: Search
  readonly scopedTokens: ScopedTokens
  readonly server: ServerState
  readonly statistics: Statistics
  readonly syncTokens: SyncTokens
  readonly thumbnails: Thumbnails
  readonly tickets: Tickets
  readonly usage: Usage
  readonly webdavSecrets: WebdavSecrets
}

/** Declares a route of the web API. */
export const route = routesFor<Account, ApiServices>()
