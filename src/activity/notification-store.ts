import type { Reader, Transaction } from '../database/database.ts'
import type { NoticeDetail } from './notices.ts'

/** What an account was notified of. */
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

/** The same for each account. Gives the ids of the new notifications. */
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

/** Whether there is such a notification that is unseen, or came after a time. */
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

/** Forgets all but the newest of each account. Where each account's end is looked up once, not for each of its rows. */
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
       from account a where a.key in (${accountKeys.map(() => '?').join(', ')})
     )
     delete from notification where key in (
       select n.key from oldest join notification n on n.account_key = oldest.account_key and n.key <= oldest.key
     )`,
    kept,
    ...accountKeys,
  )
}

export async function listNotifications(
  reader: Reader,
  accountKey: number,
  { since, skip, limit }: { since: number; skip: number; limit: number },
): Promise<Notification[]> {
  const rows = await reader.all<NotificationRow>(
    `select * from notification where account_key = ? and created_at >= ?
     order by key desc limit ? offset ?`,
    accountKey,
    since,
    limit,
    skip,
  )
  return rows.map(toNotification)
}

export async function countNotifications(
  reader: Reader,
  accountKey: number,
  since: number,
): Promise<{ all: number; unseen: number }> {
  const row = await reader.get<{ n: number; unseen: number | string | null }>(
    `select count(*) as n, sum(1 - seen) as unseen from notification
     where account_key = ? and created_at >= ?`,
    accountKey,
    since,
  )
  return { all: row?.n ?? 0, unseen: Number(row?.unseen ?? 0) }
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
