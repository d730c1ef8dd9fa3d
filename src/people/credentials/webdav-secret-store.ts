import type { Reader, Transaction } from '../../platform/database/index.ts'
import { type Account, accountRows } from '../accounts/index.ts'

/** Valid for the current epoch of the account. */
export async function putWebdavSecret(
  tx: Transaction,
  { key, epoch }: Pick<Account, 'key' | 'epoch'>,
  hash: string,
): Promise<void> {
  await tx.run(
    `insert into webdav_secret (account_key, hash, epoch) values (?, ?, ?)
     on conflict (account_key) do update set hash = excluded.hash, epoch = excluded.epoch`,
    key,
    hash,
    epoch,
  )
}

export async function deleteWebdavSecret(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from webdav_secret where account_key = ?', accountKey)
}

/** Undefined for inactive accounts, and for those that signed out everywhere since it was set. */
export async function findWebdavSecret(reader: Reader, accountKey: number): Promise<string | undefined> {
  const row = await reader.get<{ hash: string }>(
    `select hash from webdav_secret join ${accountRows.relation} account on account.key = webdav_secret.account_key
     where account_key = ? and active = 1 and webdav_secret.epoch = account.epoch`,
    accountKey,
  )
  return row?.hash
}
