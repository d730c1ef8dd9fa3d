import { type LibraryId, parseLibraryId } from '../../base/objects/index.ts'
import { accountRows } from '../../people/accounts/index.ts'
import type { Reader, Transaction, Value } from '../../platform/database/index.ts'
import type { NoticeDetail, NoticeType } from './notices.ts'

/** A notification of an account. */
export interface Notification {
  readonly id: number
  readonly accountKey: number
  readonly type: string
  readonly detail: NoticeDetail
  /** Unix seconds. */
  readonly createdAt: number
  readonly seen: boolean
}

interface NotificationRow {
  key: number
  account_key: number
  type: string
  detail: string
  created_at: number
  seen: number
}

/** Inserts the same notification for each account. Returns the new ids. */
export async function insertNotifications(
  tx: Transaction,
  accountKeys: readonly number[],
  type: string,
  detail: string,
  now: number,
): Promise<{ id: number; accountKey: number }[]> {
  const rows = await tx.all<{ key: number; account_key: number }>(
    `insert into notification (account_key, type, detail, created_at)
     values ${accountKeys.map(() => '(?, ?, ?, ?)').join(', ')} returning key, account_key`,
    ...accountKeys.flatMap((accountKey) => [accountKey, type, detail, now]),
  )
  return rows.map(({ key, account_key }) => ({ id: key, accountKey: account_key }))
}

/** Whether there is an equal notification that is unseen, or newer than a time. */
export async function hasNotification(
  reader: Reader,
  { accountKey, type, detail }: { accountKey: number; type: string; detail: string },
  after: number,
): Promise<boolean> {
  const row = await reader.get(
    `select 1 from notification
     where account_key = ? and type = ? and detail = ? and (seen = 0 or created_at > ?) limit 1`,
    accountKey,
    type,
    detail,
    after,
  )
  return row !== undefined
}

/** Deletes all but the newest of each account. The cutoff is computed once per account, not per row. */
export async function trimNotifications(
  tx: Transaction,
  accountKeys: readonly number[],
  kept: number,
): Promise<void> {
  await tx.run(
    `with oldest as (
       select a.key as account_key, (
         select n.key from notification n where n.account_key = a.key order by n.key desc limit 1 offset ?
       ) as key
       from ${accountRows.briefRelation} a where a.key in (${accountKeys.map(() => '?').join(', ')})
     )
     delete from notification where key in (
       select n.key from oldest join notification n on n.account_key = oldest.account_key and n.key <= oldest.key
     )`,
    kept,
    ...accountKeys,
  )
}

/** Selects the visible notifications of an account. */
export interface ShownNotifications {
  readonly accountKey: number
  /** Unix seconds. */
  readonly since: number
  /** Libraries whose content the account may not read any more. */
  readonly hidden: readonly LibraryId[]
}

// Types that reveal content of a library. They are shown only to accounts that may read it now. Notifications
// about shares themselves always stay visible.
const OF_CONTENT: readonly NoticeType[] = [
  'repo_monitor',
  'file_uploaded',
  'folder_uploaded',
  'deleted_files',
  'file_comment',
]
const IS_OF_CONTENT = `type in (${OF_CONTENT.map((type) => `'${type}'`).join(', ')})`
// The detail of a notification about a library begins with its id (`notices.ts`).
const LIBRARY_ID = `substr(detail, ${'{"repo_id":"'.length + 1}, 36)`

/** The libraries and sub-libraries whose content the notifications of an account reveal. */
export async function librariesNotifiedOf(
  reader: Reader,
  accountKey: number,
  since: number,
): Promise<LibraryId[]> {
  const rows = await reader.all<{ id: string }>(
    `select distinct ${LIBRARY_ID} as id from notification
     where account_key = ? and created_at >= ? and ${IS_OF_CONTENT}`,
    accountKey,
    since,
  )
  return rows.flatMap(({ id }) => parseLibraryId(id) ?? [])
}

export async function listNotifications(
  reader: Reader,
  shown: ShownNotifications,
  { skip, limit }: { skip: number; limit: number },
): Promise<Notification[]> {
  const where = shownSql(shown)
  const rows = await reader.all<NotificationRow>(
    `select * from notification where ${where.sql} order by key desc limit ? offset ?`,
    ...where.values,
    limit,
    skip,
  )
  return rows.map(toNotification)
}

export async function countNotifications(
  reader: Reader,
  shown: ShownNotifications,
): Promise<{ all: number; unseen: number }> {
  const where = shownSql(shown)
  const row = await reader.get<{ n: number; unseen: number | string | null }>(
    `select count(*) as n, sum(1 - seen) as unseen from notification where ${where.sql}`,
    ...where.values,
  )
  return { all: row?.n ?? 0, unseen: Number(row?.unseen ?? 0) }
}

/** The unseen notifications of an account from one to another, newest first. */
export async function listUnseenBetween(
  reader: Reader,
  accountKey: number,
  { first, last, limit }: { first: number; last: number; limit: number },
): Promise<Notification[]> {
  const rows = await reader.all<NotificationRow>(
    'select * from notification where account_key = ? and key >= ? and key <= ? and seen = 0 order by key desc limit ?',
    accountKey,
    first,
    last,
    limit,
  )
  return rows.map(toNotification)
}

/** The id of the newest notification of an account; 0 without one. */
export async function newestNotification(reader: Reader, accountKey: number): Promise<number> {
  const sql = 'select max(key) as key from notification where account_key = ?'
  return (await reader.get<{ key: number | null }>(sql, accountKey))?.key ?? 0
}

export async function findNotification(reader: Reader, id: number): Promise<Notification | undefined> {
  const row = await reader.get<NotificationRow>('select * from notification where key = ?', id)
  return row && toNotification(row)
}

export async function markSeen(tx: Transaction, accountKey: number, id?: number): Promise<void> {
  if (id === undefined) {
    await tx.run('update notification set seen = 1 where account_key = ? and seen = 0', accountKey)
  } else {
    await tx.run('update notification set seen = 1 where account_key = ? and key = ?', accountKey, id)
  }
}

export async function deleteNotificationsOf(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from notification where account_key = ?', accountKey)
}

export function deleteNotificationsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from notification where created_at < ?', time)
}

function shownSql({ accountKey, since, hidden }: ShownNotifications): { sql: string; values: Value[] } {
  const sql = 'account_key = ? and created_at >= ?'
  if (hidden.length === 0) return { sql, values: [accountKey, since] }
  const marks = hidden.map(() => '?').join(', ')
  return {
    sql: `${sql} and not (${IS_OF_CONTENT} and ${LIBRARY_ID} in (${marks}))`,
    values: [accountKey, since, ...hidden],
  }
}

function toNotification(row: NotificationRow): Notification {
  return {
    id: row.key,
    accountKey: row.account_key,
    type: row.type,
    detail: JSON.parse(row.detail) as NoticeDetail,
    createdAt: row.created_at,
    seen: row.seen === 1,
  }
}
