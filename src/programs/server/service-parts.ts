import type { Config } from '../../base/config/index.ts'
import type { Logger } from '../../base/logging.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { PasswordCost } from '../../people/passwords/index.ts'
import type { TrustedClock } from '../../platform/clock/index.ts'
import type { ClusterNode } from '../../platform/cluster/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { ServerSecret } from '../../platform/secret/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import type { DiskReserve } from './disk-reserve.ts'

/** What the services are made of. */
export interface ServiceParts {
  readonly db: Database
  readonly searchDb: Database
  readonly core: LibraryCore
  readonly blocks: BlockStore
  readonly config: Config
  readonly secret: ServerSecret
  readonly now: () => number
  readonly node: ClusterNode
  /** Without one, every time is trusted. */
  readonly clock?: TrustedClock | undefined
  readonly logger: Logger
  /** Called when background processing of commits failed. */
  readonly onBehind?: () => void
  /** None unless given. */
  readonly reserve?: Pick<DiskReserve, 'fault'>
  readonly passwordCost?: PasswordCost | undefined
}
