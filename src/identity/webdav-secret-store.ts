import type { Reader, Transaction } from '../database/database.ts'

export async function putWebdavSecret(tx: Transaction, accountKey: number, hash: string): Promise<void> {
  await tx.run(
    `insert into webdav_secret (account_key, hash) values (?, ?)
     on conflict (account_key) do update set hash = excluded.hash`,
    accountKey,
    hash,
  )
}

export async function deleteWebdavSecret(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from webdav_secret where account_key = ?', accountKey)
}

/** Accounts that are not active have none. */
export async function findWebdavSecret(reader: Reader, accountKey: number): Promise<string | undefined> {
  const row = await reader.get<{ hash: string }>(
    `select hash from webdav_secret join account on account.key = webdav_secret.account_key
     where account_key = ? and active = 1`,
    accountKey,
  )
  return row?.hash
}
