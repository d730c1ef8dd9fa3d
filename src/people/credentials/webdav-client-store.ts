import type { Reader, Transaction } from '../../platform/database/index.ts'

/** What a WebDAV client signs in with. */
export type WebdavCredential = 'webdav-password' | 'account-password' | 'personal-token'

/** What distinguishes the clients of an account. */
interface WebdavClientKey {
  readonly accountKey: number
  readonly credential: WebdavCredential
  /** The personal token; undefined for a password. */
  readonly scopedTokenKey: number | undefined
  /** The network of one subscriber. */
  readonly network: string
  /** The name of the program, without its version. */
  readonly program: string
}

/** A program that uses WebDAV. Times are Unix seconds. */
export interface WebdavClient {
  readonly key: number
  readonly credential: WebdavCredential
  readonly scopedTokenKey: number | undefined
  /** The name of that token; undefined for a password. */
  readonly tokenName: string | undefined
  readonly address: string
  readonly userAgent: string
  readonly createdAt: number
  readonly lastUsedAt: number
}

/** Records a use. Returns when it was used before; undefined if it is unknown. */
export async function touchWebdavClient(
  tx: Transaction,
  client: WebdavClientKey,
  { address, userAgent }: { readonly address: string; readonly userAgent: string },
  now: number,
): Promise<number | undefined> {
  const row = await tx.get<{ key: number; last_used_at: number }>(
    `select key, last_used_at from webdav_client where account_key = ? and credential = ?
       and coalesce(scoped_token_key, 0) = ? and network = ? and program = ?`,
    client.accountKey,
    client.credential,
    client.scopedTokenKey ?? 0,
    client.network,
    client.program,
  )
  if (row === undefined) return undefined
  await tx.run(
    'update webdav_client set address = ?, user_agent = ?, last_used_at = ? where key = ?',
    address,
    userAgent,
    now,
    row.key,
  )
  return row.last_used_at
}

/** False if another process was first. */
export async function insertWebdavClient(
  tx: Transaction,
  { accountKey, credential, scopedTokenKey, network, program }: WebdavClientKey,
  { address, userAgent }: { readonly address: string; readonly userAgent: string },
  now: number,
): Promise<boolean> {
  const columns = ['account_key', 'credential', 'scoped_token_key', 'network', 'program', 'address']
  const row = [accountKey, credential, scopedTokenKey ?? null, network, program, address]
  return (
    (await tx.insertNew(
      'webdav_client',
      [...columns, 'user_agent', 'created_at', 'last_used_at'],
      [[...row, userAgent, now, now]],
    )) === 1
  )
}

/** The clients of an account with live credentials, most recently used first. */
export async function listWebdavClients(reader: Reader, accountKey: number): Promise<WebdavClient[]> {
  const rows = await reader.all<{
    key: number
    credential: WebdavCredential
    scoped_token_key: number | null
    token_name: string | null
    address: string
    user_agent: string
    created_at: number
    last_used_at: number
  }>(
    `select c.key, c.credential, c.scoped_token_key, t.name as token_name, c.address, c.user_agent, c.created_at,
       c.last_used_at
     from webdav_client c left join scoped_token t on t.key = c.scoped_token_key
     where c.account_key = ? order by c.last_used_at desc, c.key desc`,
    accountKey,
  )
  return rows.map((row) => ({
    key: row.key,
    credential: row.credential,
    scopedTokenKey: row.scoped_token_key ?? undefined,
    tokenName: row.token_name ?? undefined,
    address: row.address,
    userAgent: row.user_agent,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }))
}

/** Deletes the least recently used client, if it was not used since a time. False if it was. */
export async function evictWebdavClient(
  tx: Transaction,
  accountKey: number,
  usedBefore: number,
): Promise<boolean> {
  const sql = `delete from webdav_client where last_used_at < ? and key =
    (select key from webdav_client where account_key = ? order by last_used_at, key limit 1)`
  return (await tx.run(sql, usedBefore, accountKey)) === 1
}

export async function countWebdavClients(reader: Reader, accountKey: number): Promise<number> {
  const sql = 'select count(*) as count from webdav_client where account_key = ?'
  return (await reader.get<{ count: number }>(sql, accountKey))?.count ?? 0
}

/** The clients that sign in with a password: all of them end when the WebDAV password is set or removed. */
export async function deleteWebdavClientsWithPassword(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from webdav_client where account_key = ? and scoped_token_key is null', accountKey)
}

export async function deleteWebdavClientsOf(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from webdav_client where account_key = ?', accountKey)
}

export function deleteWebdavClientsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from webdav_client where last_used_at < ?', time)
}
