import type { Transaction } from '../../platform/database/index.ts'
import { deleteMailsOf } from './mail-store.ts'

/** Mails to and from accounts that are removed. */
export const mailRows = {
  onAccountRemoved: (tx: Transaction, { key }: { readonly key: number }): Promise<void> =>
    deleteMailsOf(tx, key),
}
