import type { Database } from '../../platform/database/index.ts'
import type { ObjectStore } from '../tree/index.ts'
import type { PathIndex } from './path-index.ts'
import type { TrashCounts } from './trash-counts.ts'

/** The services that reading history and trash needs. */
export interface HistoryStores {
  readonly db: Database
  readonly objects: ObjectStore
  readonly pathIndex: PathIndex
  readonly trashCounts: TrashCounts
  /** Unix seconds. */
  readonly now: () => number
  /** Default history limit of libraries in days. Negative: unlimited. */
  readonly defaultHistoryDays: number
}
