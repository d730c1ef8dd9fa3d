import type { Database } from '../../platform/database/index.ts'
import type { GrowthLimits } from '../commits/index.ts'
import type { LibraryCore } from '../library/index.ts'
import type { PathBinding } from '../registry/index.ts'
import type { ObjectStore } from '../tree/index.ts'
import type { LargeObjects } from './large-objects.ts'
import type { Uncommitted } from './uncommitted.ts'

/** The services that the functions of this module share. */
export interface PushStores {
  readonly core: LibraryCore
  readonly db: Database
  /** Unix seconds. */
  readonly now: () => number
  readonly objects: ObjectStore
  readonly growth: GrowthLimits
  readonly uncommitted: Uncommitted
  readonly largeObjects: LargeObjects
  readonly pathBindings: readonly PathBinding[]
}
