import type { Search } from '../../../derived/search/index.ts'
import type { LibraryCore } from '../../../libraries/library/index.ts'
import type { ServerState, Statistics, Usage } from '../../../libraries/usage/index.ts'
import type { BackupState } from '../../../maintenance/backup/index.ts'
import type { IntegrityState } from '../../../maintenance/check/index.ts'
import type { GarbageCollector } from '../../../maintenance/gc/index.ts'
import type { CopyMoveTasks, MaintenanceLog } from '../../../maintenance/jobs/index.ts'
import type { Account, Accounts, Directory, Groups, Onboarding } from '../../../people/accounts/index.ts'
import type { Audit } from '../../../people/audit/index.ts'
import type { AccountTokens, ApiTokens } from '../../../people/credentials/index.ts'
import type { Outbox } from '../../../people/mail/index.ts'
import type { SecondFactors } from '../../../people/second-factors/index.ts'
import type { NodeState } from '../../../platform/cluster/index.ts'
import { routesFor } from '../../../platform/http/index.ts'
import type { Links, Shares } from '../../../sharing/access/index.ts'
import type { Quotas } from '../../../sharing/quotas/index.ts'

/** What the calls for the administration of people, groups, libraries and links use. */
export interface AdministrationServices {
  readonly accountTokens: AccountTokens
  readonly accounts: Accounts
  readonly apiTokens: ApiTokens
  readonly core: LibraryCore
  readonly directory: Directory
  readonly groups: Groups
  readonly links: Links
  readonly outbox: Outbox
  readonly quotas: Quotas
  readonly secondFactors: SecondFactors
  readonly shares: Shares
}

/** What the calls with which administrators look after the server use. */
export interface StatusServices {
  readonly accounts: Accounts
  readonly audit: Pick<Audit, 'export' | 'list'>
  readonly backups: { state(): Promise<BackupState> }
  readonly copyMoveTasks: CopyMoveTasks
  readonly gc: Pick<GarbageCollector, 'readState'>
  /** What is known about the integrity of stored data. */
  readonly integrity: () => Promise<IntegrityState>
  readonly maintenanceLog: Pick<MaintenanceLog, 'list'>
  /** This node, and the others on the database. */
  readonly node: { readonly id: string; list(): Promise<NodeState[]> }
  /** Unix seconds. */
  readonly now: () => number
  readonly onboarding: Onboarding
  readonly outbox: Outbox
  readonly search: Search
  readonly server: ServerState
  /** Settings that the setup checklist of administrators shows. */
  readonly setup: {
    readonly publicUrl: string | undefined
    /** Undefined without scheduled backups. */
    readonly backupIntervalSeconds: number | undefined
  }
  readonly statistics: Statistics
  readonly usage: Usage
}

/** Declares a call for the administration of people, groups, libraries and links. */
export const adminRoute = routesFor<Account, AdministrationServices>()

/** Declares a call with which administrators look after the server. */
export const statusRoute = routesFor<Account, StatusServices>()
