import type { Transaction } from '../../platform/database/index.ts'
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

/**
 * What the accounts sign in with, which `credentials` keeps. It is revoked in the transaction that changes the account.
 */
export interface AccountSecrets {
  /** The text to store for a password. `source` is its place in the queue of those being hashed. */
  hash(password: string, source: string): Promise<string>
  /** Whether a password is too easily guessed, also from `names`. */
  isCommon(password: string, names: readonly string[]): Promise<boolean>
  /** All sessions and tokens end. Mailed links stay, because one of them may be what ends the sessions. */
  onSignedOut(tx: Transaction, accountKey: number): Promise<void>
  /** Ends mailed links: `password` those that set a password. */
  onMailedLinksEnded(tx: Transaction, accountKey: number, which: 'all' | 'password'): Promise<void>
  /** As both, and nothing is left of what the account signed in with. */
  onAccountRemoved(tx: Transaction, accountKey: number): Promise<void>
}
