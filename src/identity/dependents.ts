import type { Transaction } from '../database/index.ts'
import type { Account } from './account.ts'

/**
 * A module with rows that refer to accounts. It removes its rows in the transaction that removes the account.
 */
export interface AccountDependent {
  onAccountRemoved(tx: Transaction, account: Account): Promise<void>
}

/** A module with rows that refer to groups. It removes its rows in the transaction that changes the group. */
export interface GroupDependent {
  onMemberRemoved(tx: Transaction, groupKey: number, accountKey: number): Promise<void>
  onGroupDeleted(tx: Transaction, groupKey: number): Promise<void>
}

/** A module with credentials derived from API tokens. */
export interface ApiTokenDependent {
  /**
   * A wipe of a device was requested. Its API tokens stay until it confirms. Every credential derived from
   * them ends now.
   */
  onDeviceWiped(tx: Transaction, apiTokenKeys: readonly number[]): Promise<void>
}
