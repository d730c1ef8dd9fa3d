import { libraryRows } from '../../libraries/registry/index.ts'
import { accountRows } from '../../people/accounts/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** A URL that is called after changes of a library. */
export interface Webhook {
  readonly key: number
  readonly libraryKey: number
  readonly url: string
  /** Encrypted by WebhookSecrets. */
  readonly secret: Uint8Array
  readonly creator: string
  readonly createdAt: number
  /** Only later commits are sent. */
  readonly sinceSeq: number
  readonly isValid: boolean
}

interface WebhookRow {
  key: number
  library_key: number
  url: string
  secret: Uint8Array
  creator: string
  created_at: number
  since_seq: number
  is_valid: number
}

export async function insertWebhook(
  tx: Transaction,
  webhook: Omit<Webhook, 'key' | 'isValid'>,
): Promise<Webhook | undefined> {
  const row = await tx.get<WebhookRow>(
    `insert into webhook (library_key, url, secret, creator, created_at, since_seq) values (?, ?, ?, ?, ?, ?)
     on conflict (library_key, url) do nothing returning *`,
    webhook.libraryKey,
    webhook.url,
    webhook.secret,
    webhook.creator,
    webhook.createdAt,
    webhook.sinceSeq,
  )
  return row && toWebhook(row)
}

/** Oldest first. */
export async function listWebhooks(reader: Reader, libraryKey: number): Promise<Webhook[]> {
  const rows = await reader.all<WebhookRow>(
    'select * from webhook where library_key = ? order by key',
    libraryKey,
  )
  return rows.map(toWebhook)
}

// A webhook acts for the owner who created it: it ends with the account, and pauses while the account is
// inactive.
const ACTING = `from webhook w join ${libraryRows.relation} l on l.key = w.library_key
  join ${accountRows.briefRelation} a on a.key = l.owner_key and a.email = w.creator and a.active = 1`

/** Webhooks whose creator still owns the library and is active. Oldest first. */
export async function listActingWebhooks(reader: Reader, libraryKey: number): Promise<Webhook[]> {
  const rows = await reader.all<WebhookRow>(
    `select w.* ${ACTING} where w.library_key = ? order by w.key`,
    libraryKey,
  )
  return rows.map(toWebhook)
}

/** Whether the creator of a webhook still owns its library and is active. */
export async function isActing(reader: Reader, key: number): Promise<boolean> {
  return (await reader.get(`select 1 ${ACTING} where w.key = ?`, key)) !== undefined
}

export async function findWebhook(
  reader: Reader,
  libraryKey: number,
  key: number,
): Promise<Webhook | undefined> {
  const sql = 'select * from webhook where library_key = ? and key = ?'
  const row = await reader.get<WebhookRow>(sql, libraryKey, key)
  return row && toWebhook(row)
}

export async function findWebhookByUrl(
  reader: Reader,
  libraryKey: number,
  url: string,
): Promise<Webhook | undefined> {
  const sql = 'select * from webhook where library_key = ? and url = ?'
  const row = await reader.get<WebhookRow>(sql, libraryKey, url)
  return row && toWebhook(row)
}

export async function findWebhookByKey(reader: Reader, key: number): Promise<Webhook | undefined> {
  const row = await reader.get<WebhookRow>('select * from webhook where key = ?', key)
  return row && toWebhook(row)
}

/** Also resets the failure count. */
export async function updateWebhook(
  tx: Transaction,
  key: number,
  { url, secret, isValid }: Pick<Webhook, 'url' | 'secret' | 'isValid'>,
): Promise<void> {
  const sql = 'update webhook set url = ?, secret = ?, is_valid = ?, failures = 0 where key = ?'
  await tx.run(sql, url, secret, isValid ? 1 : 0, key)
}

/** False if there is none. */
export async function deleteWebhook(tx: Transaction, libraryKey: number, key: number): Promise<boolean> {
  return (await tx.run('delete from webhook where library_key = ? and key = ?', libraryKey, key)) === 1
}

export async function deleteWebhooksOf(tx: Transaction, libraryKey: number): Promise<void> {
  await tx.run('delete from webhook where library_key = ?', libraryKey)
}

/** Libraries with webhooks. */
export async function listLibrariesWithWebhooks(reader: Reader): Promise<number[]> {
  const rows = await reader.all<{ key: number }>('select distinct library_key as key from webhook')
  return rows.map((row) => row.key)
}

/** Whether a library has webhooks. Unlike those that act, they do not change with each commit, so the row is cached. */
export async function hasWebhooks(reader: Reader, libraryKey: number): Promise<boolean> {
  const sql = 'select 1 as found from webhook where library_key = ? limit 1'
  return (await reader.get(sql, libraryKey)) !== undefined
}

function toWebhook(row: WebhookRow): Webhook {
  return {
    key: row.key,
    libraryKey: row.library_key,
    url: row.url,
    secret: row.secret,
    creator: row.creator,
    createdAt: row.created_at,
    sinceSeq: row.since_seq,
    isValid: row.is_valid === 1,
  }
}

/** The encrypted secrets of all webhooks. */
export async function listWebhookSecrets(reader: Reader): Promise<{ key: number; secret: Uint8Array }[]> {
  return reader.all('select key, secret from webhook order by key')
}

export async function setWebhookSecret(tx: Transaction, key: number, secret: Uint8Array): Promise<void> {
  await tx.run('update webhook set secret = ? where key = ?', secret, key)
}
