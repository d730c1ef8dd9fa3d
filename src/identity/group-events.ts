import type { Transaction } from '../database/index.ts'
import type { Group } from './group.ts'

/** A change of a group's members, and therefore of their access. */
export interface GroupEvent {
  readonly kind: 'joined' | 'left'
  readonly group: Group
  /** The accounts that joined or left, and those whose access changed with them. */
  readonly accountKeys: readonly number[]
  /** The account id of the member who added them; undefined if there is none. */
  readonly by: string | undefined
  /** Whether the membership waits for the account to accept it. */
  readonly isHeld: boolean
}

/** Records a group event in the transaction of the change. */
export type GroupRecorder = (tx: Transaction, event: GroupEvent) => Promise<void>
