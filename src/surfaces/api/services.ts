import type { LibraryPath } from '../../base/paths/index.ts'
import type { FairSemaphore } from '../../base/scheduling/index.ts'
import type { ActivityService } from '../../derived/activity/index.ts'
import type {
  AnnotationQuery,
  Comments,
  findAnnotated,
  findCommented,
  Tags,
} from '../../derived/annotations/index.ts'
import type { Photos } from '../../derived/photos/index.ts'
import type { DocumentTexts, Thumbnails } from '../../derived/previews/index.ts'
import type { Query, Search } from '../../derived/search/index.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { ClientPush } from '../../libraries/push/index.ts'
import type { ServerState, Statistics, Usage } from '../../libraries/usage/index.ts'
import type { BackupState } from '../../maintenance/backup/index.ts'
import type { IntegrityState } from '../../maintenance/check/index.ts'
import type {
  Account,
  Accounts,
  Avatars,
  Directory,
  Groups,
  Onboarding,
} from '../../people/accounts/index.ts'
import type { Audit } from '../../people/audit/index.ts'
import type {
  AccountTokens,
  ApiTokens,
  Confirmations,
  DeviceAuthorizations,
  Login,
  ScopedTokens,
  SignInLinks,
  SyncTokens,
  WebdavClients,
  WebdavSecrets,
} from '../../people/credentials/index.ts'
import type { Outbox } from '../../people/mail/index.ts'
import type { PasswordChecks } from '../../people/passwords/index.ts'
import type { NodeState } from '../../platform/cluster/index.ts'
import { routesFor } from '../../platform/http/index.ts'
import type {
  Access,
  LibraryPasswords,
  LinkMails,
  Links,
  Shares,
  Tickets,
} from '../../sharing/access/index.ts'
import type { Quotas } from '../../sharing/quotas/index.ts'
import type { CopyMoveTasks } from './batch/copy-move-tasks.ts'
import type { Archives } from './transfers/archives.ts'

/** Resumable uploads. */
interface PartialUploads {
  /** How many bytes of a file are stored. */
  uploadedBytes(key: {
    libraryKey: number
    accountKey: number
    linkKey: number
    path: LibraryPath
  }): Promise<number>
}

/** The last runs of the periodic maintenance jobs. */
interface MaintenanceRuns {
  list(): readonly {
    readonly name: string
    /** Unix seconds. */
    readonly endedAt: number
    readonly durationMs: number
    readonly failed: boolean
  }[]
}

/** Garbage collection, as shown to administrators. */
interface GarbageCollection {
  readState(): Promise<{
    readonly running: boolean
    /** Unix seconds; undefined before the first collection. */
    readonly lastBeganAt: number | undefined
    readonly lastEndedAt: number | undefined
    readonly lastDuration: number | undefined
    readonly lastFailure: string | undefined
    /** Sums since the process started. */
    readonly deletedBlocks: number
    readonly freedBytes: number
    /** Bytes that are condemned and not deleted yet. */
    readonly waitingBytes: number
  }>
}

/** The services that the routes of the web API use. */
export interface ApiServices {
  readonly access: Access
  readonly accounts: Accounts
  readonly accountTokens: AccountTokens
  readonly signInLinks: SignInLinks
  readonly deviceAuthorizations: DeviceAuthorizations
  readonly activity: ActivityService
  readonly apiTokens: ApiTokens
  /** Listings of zip archives, which are read in this process. */
  readonly archiveListings: FairSemaphore
  readonly archives: Archives
  /** This node, and the others on the database. */
  readonly node: { readonly id: string; list(): Promise<NodeState[]> }
  readonly audit: Audit
  readonly avatars: Avatars
  readonly gc: GarbageCollection
  /** What is known about the integrity of stored data. */
  readonly integrity: () => Promise<IntegrityState>
  readonly maintenanceLog: MaintenanceRuns
  readonly comments: Comments
  /** Who may make credentials that outlive their session. */
  readonly confirmations: Confirmations
  readonly copyMoveTasks: CopyMoveTasks
  readonly core: LibraryCore
  readonly push: ClientPush
  readonly directory: Directory
  readonly documentTexts: DocumentTexts
  readonly libraryPasswords: LibraryPasswords
  /** Part of the tags of listings. */
  readonly listingKey: string
  readonly groups: Groups
  readonly links: Links
  readonly linkMails: LinkMails
  readonly login: Login
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
  /** Unix seconds. */
  readonly now: () => number
  readonly onboarding: Onboarding
  readonly outbox: Outbox
  readonly passwordChecks: PasswordChecks
  readonly partialUploads: PartialUploads
  readonly photos: Photos
  readonly quotas: Quotas
  readonly shares: Shares
  /** The status when an upload link is refused because the owner is out of quota. */
  readonly quotaStatus: 443 | 500
  readonly search: Search
  readonly scopedTokens: ScopedTokens
  readonly server: ServerState
  /** Settings that the setup checklist of administrators shows. */
  readonly setup: {
    readonly publicUrl: string | undefined
    /** Undefined without scheduled backups. */
    readonly backupIntervalSeconds: number | undefined
  }
  readonly statistics: Statistics
  readonly backups: { state(): Promise<BackupState> }
  readonly syncTokens: SyncTokens
  readonly thumbnails: Thumbnails
  readonly tags: Tags
  readonly tickets: Tickets
  readonly usage: Usage
  readonly webdavClients: WebdavClients
  readonly webdavSecrets: WebdavSecrets
}

/** Declares a route of the web API. */
export const route = routesFor<Account, ApiServices>()
