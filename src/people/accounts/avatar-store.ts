import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { AvatarImage } from './avatars.ts'

/** Replaces the picture of an account. */
export async function putAvatar(
  tx: Transaction,
  accountKey: number,
  name: string,
  images: readonly AvatarImage[],
  now: number,
): Promise<void> {
  await deleteAvatar(tx, accountKey)
  const rows = images.map(({ size, data }) => [accountKey, size, name, data, now])
  await tx.insert('avatar', ['account_key', 'size', 'name', 'data', 'updated_at'], rows)
  await tx.run('update account set avatar = ?, avatar_at = ? where key = ?', name, now, accountKey)
}

export async function deleteAvatar(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from avatar where account_key = ?', accountKey)
  await tx.run("update account set avatar = '', avatar_at = 0 where key = ?", accountKey)
}

export async function findAvatar(
  reader: Reader,
  name: string,
  size: number,
): Promise<Uint8Array | undefined> {
  const sql = 'select data from avatar where name = ? and size = ?'
  return (await reader.get<{ data: Uint8Array }>(sql, name, size))?.data
}
