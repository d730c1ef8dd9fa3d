import type { Reader, Transaction, Value } from '../../platform/database/index.ts'

/** One call of a webhook, sent or pending. */
export interface Delivery {
  readonly key: number
  readonly webhookKey: number
  readonly id: string
  readonly event: string
  readonly body: string
  readonly createdAt: number
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly attempts: number
  readonly nextAt: number
  /** The end of the lease of the process that sends it. Another process that takes it over has another end. */
  readonly claimedUntil: number
  readonly finishedAt: number | null
  /** HTTP status of the last response. */
  readonly status: number | null
  readonly answer: string
  readonly error: string
}

interface DeliveryRow {
  key: number
  webhook_key: number
  id: string
  event: string
  body: string
  created_at: number
  state: number
  attempts: number
  next_at: number
  claimed_until: number
  finished_at: number | null
  status: number | null
  answer: string
  error: string
}

const STATES = ['pending', 'delivered', 'failed'] as const

export async function insertDeliveries(
  tx: Transaction,
  deliveries: readonly Pick<Delivery, 'webhookKey' | 'id' | 'event' | 'body' | 'createdAt'>[],
): Promise<void> {
  const columns = ['webhook_key', 'id', 'event', 'body', 'created_at', 'next_at']
  const rows = deliveries.map((one): Value[] => [
    one.webhookKey,
    one.id,
    one.event,
    one.body,
    one.createdAt,
    one.createdAt,
  ])
  await tx.insert('webhook_delivery', columns, rows)
}

// Only for enabled webhooks. Whether the owner is still permitted is checked when it is sent.
const SENDABLE = 'join webhook w on w.key = d.webhook_key and w.is_valid = 1'

// A delivery of the same webhook that a process is sending.
const CLAIMED = `select 1 from webhook_delivery c
  where c.webhook_key = d.webhook_key and c.state = 0 and c.claimed_until > ?`

export async function countPending(reader: Reader, webhookKey: number): Promise<number> {
  const sql = 'select count(*) as n from webhook_delivery where webhook_key = ? and state = 0'
  return (await reader.get<{ n: number }>(sql, webhookKey))?.n ?? 0
}

/** Newest first. */
export async function listDeliveries(
  reader: Reader,
  webhookKey: number,
  { skip, limit }: { skip: number; limit: number },
): Promise<Delivery[]> {
  const rows = await reader.all<DeliveryRow>(
    'select * from webhook_delivery where webhook_key = ? order by key desc limit ? offset ?',
    webhookKey,
    limit,
    skip,
  )
  return rows.map(toDelivery)
}

export async function findDelivery(
  reader: Reader,
  webhookKey: number,
  id: string,
): Promise<Delivery | undefined> {
  const sql = 'select * from webhook_delivery where webhook_key = ? and id = ?'
  const row = await reader.get<DeliveryRow>(sql, webhookKey, id)
  return row && toDelivery(row)
}

/** The oldest due delivery of each webhook, up to `limit`. */
export async function listDue(
  reader: Reader,
  now: number,
  limit: number,
): Promise<{ webhookKey: number; key: number }[]> {
  const rows = await reader.all<{ webhook_key: number; key: number }>(
    `select d.webhook_key, min(d.key) as key from webhook_delivery d ${SENDABLE}
     where d.state = 0 and d.next_at <= ? and d.claimed_until <= ? and not exists (${CLAIMED})
     group by d.webhook_key order by min(d.key) limit ?`,
    now,
    now,
    now,
    limit,
  )
  return rows.map((row) => ({ webhookKey: row.webhook_key, key: row.key }))
}

/** When the next delivery is due or its lease expires; undefined if none is pending. */
export async function nextDue(reader: Reader): Promise<number | undefined> {
  const row = await reader.get<{ at: number | null }>(
    `select min(case when d.next_at > d.claimed_until then d.next_at else d.claimed_until end) as at
     from webhook_delivery d ${SENDABLE} where d.state = 0`,
  )
  return row?.at ?? undefined
}

/** Takes the lease of a delivery. Undefined if another process has it, or that of another delivery of the webhook. */
export async function claimDelivery(
  tx: Transaction,
  key: number,
  now: number,
  until: number,
): Promise<Delivery | undefined> {
  // Locks the row of the webhook, so that two nodes cannot claim two of its deliveries.
  await tx.run(
    `update webhook set failures = failures where key = (select webhook_key from webhook_delivery where key = ?)`,
    key,
  )
  const row = await tx.get<DeliveryRow>(
    `update webhook_delivery as d set claimed_until = ?
     where d.key = ? and d.state = 0 and d.next_at <= ? and d.claimed_until <= ? and not exists (${CLAIMED})
     returning *`,
    until,
    key,
    now,
    now,
    now,
  )
  return row && toDelivery(row)
}

/** A delivery that this process has claimed. If another one has taken it over, the functions below change nothing. */
type Claimed = Pick<Delivery, 'key' | 'webhookKey' | 'claimedUntil'>

const OURS = 'where key = ? and state = 0 and claimed_until = ?'

/** Releases the lease of a delivery that was not attempted. */
export async function releaseDelivery(tx: Transaction, { key, claimedUntil }: Claimed): Promise<void> {
  await tx.run(`update webhook_delivery set claimed_until = 0 ${OURS}`, key, claimedUntil)
}

/** The result of an attempt. */
export interface Attempt {
  readonly status: number | undefined
  readonly answer: string
  readonly error: string
}

export async function setDelivered(
  tx: Transaction,
  delivery: Claimed,
  attempt: Attempt,
  now: number,
): Promise<void> {
  if (!(await setAttempt(tx, delivery, attempt, { state: 1, nextAt: now, finishedAt: now }))) return
  await tx.run('update webhook set failures = 0 where key = ?', delivery.webhookKey)
}

export async function setRetry(
  tx: Transaction,
  delivery: Claimed,
  attempt: Attempt,
  nextAt: number,
): Promise<void> {
  await setAttempt(tx, delivery, attempt, { state: 0, nextAt, finishedAt: null })
}

/** Ends a delivery as failed. After too many in a row the webhook is disabled. */
export async function setGivenUp(
  tx: Transaction,
  delivery: Claimed,
  attempt: Attempt,
  now: number,
  mostFailures: number,
): Promise<void> {
  const { webhookKey } = delivery
  if (!(await setAttempt(tx, delivery, attempt, { state: 2, nextAt: now, finishedAt: now }))) return
  await tx.run('update webhook set failures = failures + 1 where key = ?', webhookKey)
  await tx.run('update webhook set is_valid = 0 where key = ? and failures >= ?', webhookKey, mostFailures)
}

/** Ends a delivery that was not sent. It does not count as a failure of the receiver. */
export async function setDropped(
  tx: Transaction,
  { key, claimedUntil }: Claimed,
  error: string,
  now: number,
): Promise<void> {
  const sql = `update webhook_delivery set state = 2, claimed_until = 0, finished_at = ?, error = ? ${OURS}`
  await tx.run(sql, now, error, key, claimedUntil)
}

async function setAttempt(
  tx: Transaction,
  { key, claimedUntil }: Claimed,
  { status, answer, error }: Attempt,
  { state, nextAt, finishedAt }: { state: number; nextAt: number; finishedAt: number | null },
): Promise<boolean> {
  const changed = await tx.run(
    `update webhook_delivery set state = ?, attempts = attempts + 1, next_at = ?, claimed_until = 0,
       finished_at = ?, status = ?, answer = ?, error = ? ${OURS}`,
    state,
    nextAt,
    finishedAt,
    status ?? null,
    answer,
    error,
    key,
    claimedUntil,
  )
  return changed === 1
}

/** Deletes all but the newest ended deliveries of a webhook. */
export async function trimDeliveries(tx: Transaction, webhookKey: number, kept: number): Promise<void> {
  await tx.run(
    `delete from webhook_delivery where webhook_key = ? and state <> 0 and key <=
       (select key from webhook_delivery where webhook_key = ? and state <> 0 order by key desc limit 1 offset ?)`,
    webhookKey,
    webhookKey,
    kept,
  )
}

export function deleteDeliveriesBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from webhook_delivery where state <> 0 and finished_at < ?', time)
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    key: row.key,
    webhookKey: row.webhook_key,
    id: row.id,
    event: row.event,
    body: row.body,
    createdAt: row.created_at,
    state: STATES[row.state] ?? 'failed',
    attempts: row.attempts,
    nextAt: row.next_at,
    claimedUntil: row.claimed_until,
    finishedAt: row.finished_at,
    status: row.status,
    answer: row.answer,
    error: row.error,
  }
}
