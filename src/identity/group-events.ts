import type { Transaction } from '../database/index.ts'
import type { Group } from './group.ts'

/** A change of who is in a group, and so of what they can reach. */
export interface GroupEvent {
  readonly kind: 'joined' | 'left'
  readonly group: Group
  /** Who came or went, and whose reach changed with them. */
  readonly accountKeys: readonly number[]
  /** The account id of who had them join; undefined if there is nobody to name. */
  readonly by: string | undefined
}

/** Writes what must be kept of an event, in the transaction of what happened. */
export type GroupRecorder = (tx: Transaction, event: GroupEvent) => Promise<void>
