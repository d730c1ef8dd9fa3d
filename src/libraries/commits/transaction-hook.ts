import type { Transaction } from '../../platform/database/index.ts'

/** Writes further rows in the transaction of a change, for example its audit record. */
export type TransactionHook = (tx: Transaction) => Promise<void>
