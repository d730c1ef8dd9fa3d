import type { Reader, Transaction } from '../../platform/database/index.ts'

/** A mail in the outbox. */
export interface Mail {
  readonly key: number
  /** Part of the Message-ID. */
  readonly id: string
  readonly kind: string
  /** The recipient; null for an address without an account. */
  readonly accountKey: number | null
  /** The account that caused it; null for none. */
  readonly senderKey: number | null
  readonly address: string
  readonly detail: string
  /** The first and the last notification that it reports. */
  readonly firstItem: number | null
  readonly lastItem: number | null
  readonly createdAt: number
  readonly attempts: number
  /** The end of the lease of the process that sends it. Another process that takes it over has another end. */
  readonly claimedUntil: number
}

interface MailRow {
  key: number
  id: string
  kind: string
  account_key: number | null
  sender_key: number | null
  address: string
  detail: string
  first_item: number | null
  last_item: number | null
  created_at: number
  attempts: number
  claimed_until: number
}

/** Of an ended mail. */
const STATES = { sent: 1, failed: 2, dropped: 3 } as const

export interface NewMail {
  readonly id: string
  readonly kind: string
  readonly accountKey?: number | undefined
  readonly senderKey?: number | undefined
  readonly address?: string | undefined
  readonly detail?: string | undefined
  readonly firstItem?: number | undefined
}

/**
 * Inserts a mail. One that collects notifications is not inserted if the account already has one that collects: its row is locked instead, so
 * that it does not begin to be sent before the notification is visible.
 */
export async function insertMail(
  tx: Transaction,
  mail: NewMail,
  { now, nextAt }: { now: number; nextAt: number },
): Promise<void> {
  await tx.run(
    `insert into mail (id, kind, account_key, sender_key, address, detail, first_item, created_at, next_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (account_key, kind) where state = 0 and first_item is not null and last_item is null
     do update set next_at = mail.next_at`,
    mail.id,
    mail.kind,
    mail.accountKey ?? null,
    mail.senderKey ?? null,
    mail.address ?? '',
    mail.detail ?? '{}',
    mail.firstItem ?? null,
    now,
    nextAt,
  )
}

/** Keys of due mails, oldest first. */
export async function listDue(reader: Reader, now: number, limit: number): Promise<number[]> {
  const rows = await reader.all<{ key: number }>(
    'select key from mail where state = 0 and next_at <= ? and claimed_until <= ? order by next_at, key limit ?',
    now,
    now,
    limit,
  )
  return rows.map(({ key }) => key)
}

/** When the next mail is due or its lease expires; undefined if none is waiting. */
export async function nextDue(reader: Reader): Promise<number | undefined> {
  const row = await reader.get<{ at: number | null }>(
    `select min(case when next_at > claimed_until then next_at else claimed_until end) as at from mail where state = 0`,
  )
  return row?.at ?? undefined
}

/** Takes the lease of a mail. Undefined if another process has it. */
export async function claimMail(
  tx: Transaction,
  key: number,
  now: number,
  until: number,
): Promise<Mail | undefined> {
  const row = await tx.get<MailRow>(
    `update mail set claimed_until = ? where key = ? and state = 0 and next_at <= ? and claimed_until <= ? returning *`,
    until,
    key,
    now,
    now,
  )
  return row && toMail(row)
}

/** Ends the collecting of notifications. */
export async function setLastItem(tx: Transaction, key: number, lastItem: number): Promise<void> {
  await tx.run('update mail set last_item = ? where key = ?', lastItem, key)
}

/** A mail that this process has claimed. If another one has taken it over, the functions below change nothing. */
type Claimed = Pick<Mail, 'key' | 'claimedUntil'>

const OURS = 'where key = ? and state = 0 and claimed_until = ?'

export async function releaseMail(tx: Transaction, { key, claimedUntil }: Claimed): Promise<void> {
  await tx.run(`update mail set claimed_until = 0 ${OURS}`, key, claimedUntil)
}

export async function setRetry(
  tx: Transaction,
  { key, claimedUntil }: Claimed,
  error: string,
  nextAt: number,
): Promise<void> {
  const sql = `update mail set attempts = attempts + 1, claimed_until = 0, next_at = ?, error = ? ${OURS}`
  await tx.run(sql, nextAt, error, key, claimedUntil)
}

/** Its content is deleted: it may be personal, and is not needed any more. */
export async function endMail(
  tx: Transaction,
  { key, claimedUntil }: Claimed,
  { state, error, now }: { state: keyof typeof STATES; error: string; now: number },
): Promise<void> {
  await tx.run(
    `update mail set state = ?, attempts = attempts + 1, claimed_until = 0, finished_at = ?, error = ?, detail = '{}'
     ${OURS}`,
    STATES[state],
    now,
    error,
    key,
    claimedUntil,
  )
}

/** Mails of one kind that were queued since a time: for an account, or caused by one. */
export async function countMails(
  reader: Reader,
  by: { readonly accountKey: number } | { readonly senderKey: number },
  kind: string,
  since: number,
): Promise<number> {
  const [column, key] = 'accountKey' in by ? ['account_key', by.accountKey] : ['sender_key', by.senderKey]
  const row = await reader.get<{ n: number }>(
    `select count(*) as n from mail where ${column} = ? and kind = ? and created_at >= ?`,
    key,
    kind,
    since,
  )
  return row?.n ?? 0
}

/** What administrators see of the outbox. */
export interface OutboxFigures {
  readonly waiting: number
  /** Unix seconds; undefined if none is waiting. */
  readonly oldestWaitingAt: number | undefined
  /** Sent and given up since the time asked for. */
  readonly sent: number
  readonly failed: number
  /** Of the last attempt that failed, if its mail is waiting or was given up. */
  readonly lastError: string | undefined
}

export async function outboxFigures(reader: Reader, now: number, since: number): Promise<OutboxFigures> {
  const waiting = await reader.get<{ n: number; at: number | null }>(
    'select count(*) as n, min(created_at) as at from mail where state = 0 and next_at <= ?',
    now,
  )
  const delayed = await reader.get<{ n: number; at: number | null }>(
    'select count(*) as n, min(created_at) as at from mail where state = 0 and next_at > ? and attempts > 0',
    now,
  )
  const ended = await reader.all<{ state: number; n: number }>(
    'select state, count(*) as n from mail where state <> 0 and finished_at >= ? group by state',
    since,
  )
  const error = await reader.get<{ error: string }>(
    `select error from mail where error <> '' and (state = 0 or (state = 2 and finished_at >= ?)) order by key desc limit 1`,
    since,
  )
  const times = [waiting?.at, delayed?.at].filter((at) => typeof at === 'number')
  const endedAs = (state: keyof typeof STATES) => ended.find((row) => row.state === STATES[state])?.n ?? 0
  return {
    waiting: (waiting?.n ?? 0) + (delayed?.n ?? 0),
    oldestWaitingAt: times.length === 0 ? undefined : Math.min(...times),
    sent: endedAs('sent'),
    failed: endedAs('failed'),
    lastError: error?.error,
  }
}

/** Deletes ended mails. Resolves to their number. */
export function deleteEndedBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from mail where state <> 0 and finished_at < ?', time)
}

function toMail(row: MailRow): Mail {
  return {
    key: row.key,
    id: row.id,
    kind: row.kind,
    accountKey: row.account_key,
    senderKey: row.sender_key,
    address: row.address,
    detail: row.detail,
    firstItem: row.first_item,
    lastItem: row.last_item,
    createdAt: row.created_at,
    attempts: row.attempts,
    claimedUntil: row.claimed_until,
  }
}

/** Mails to and from accounts that are removed. */
export const mailRows = {
  async onAccountRemoved(tx: Transaction, { key }: { readonly key: number }): Promise<void> {
    const sql = 'delete from mail where account_key = ? or (sender_key = ? and state = 0)'
    await tx.run(sql, key, key)
  },
}
