import type { Database, Dialect, Reader, Transaction } from '../../platform/database/index.ts'
import type { LiveEvent } from './hub.ts'

/** A live event and its number. */
interface NumberedEvent {
  readonly id: number
  readonly event: LiveEvent
}

/** Stores events and returns the number of the last. */
export function appendEvents(db: Database, events: readonly LiveEvent[], now: number): Promise<number> {
  return db.write((tx) => insertEvents(tx, db.dialect, events, now), { durable: false })
}

/**
 * Stores events and returns the number of the last. The row of the counter stays locked until commit, so a
 * number is never visible before its predecessors, and transactions that follow each other are in that order.
 */
export async function insertEvents(
  tx: Transaction,
  dialect: Dialect,
  events: readonly LiveEvent[],
  now: number,
): Promise<number> {
  const last = await takeNumbers(tx, dialect, events.length)
  const first = last - events.length + 1
  const rows = events.map((event, index) => [first + index, now, JSON.stringify(event)])
  await tx.insert('live_event', ['id', 'at', 'event'], rows)
  return last
}

/** The last of so many numbers, which are nobody else's. */
async function takeNumbers(tx: Transaction, dialect: Dialect, count: number): Promise<number> {
  const update = 'update live_event_number set last = last + ? where key = 1'
  if (dialect === 'postgres')
    return (await tx.get<{ last: number }>(`${update} returning last`, count))?.last ?? 0
  // To return rows SQLite makes a temporary table, which takes longer than a second statement.
  await tx.run(update, count)
  return lastEventId(tx)
}

const NEXT_EVENT = `with number as (update live_event_number set last = last + 1 where key = 1 returning last)
  insert into live_event (id, at, event) select last, ?, ? from number returning id`

/** As insertEvents, for one event, in one round trip. */
export async function insertEvent(
  tx: Transaction,
  dialect: Dialect,
  event: LiveEvent,
  now: number,
): Promise<number> {
  if (dialect !== 'postgres') return insertEvents(tx, dialect, [event], now)
  return (await tx.get<{ id: number }>(NEXT_EVENT, now, JSON.stringify(event)))?.id ?? 0
}

export async function listEventsAfter(reader: Reader, id: number, limit: number): Promise<NumberedEvent[]> {
  const rows = await reader.all<{ id: number; event: string }>(
    'select id, event from live_event where id > ? order by id limit ?',
    id,
    limit,
  )
  return rows.map((row) => ({ id: row.id, event: JSON.parse(row.event) as LiveEvent }))
}

/** The last assigned number; 0 for none. */
export async function lastEventId(reader: Reader): Promise<number> {
  return (await reader.get<{ last: number }>('select last from live_event_number where key = 1'))?.last ?? 0
}

/** The oldest stored event; undefined for none. */
export async function oldestEventId(reader: Reader): Promise<number | undefined> {
  return (await reader.get<{ id: number | null }>('select min(id) as id from live_event'))?.id ?? undefined
}

export function deleteEvents(
  db: Database,
  { upTo, before }: { upTo: number; before: number },
): Promise<number> {
  return db.write((tx) => tx.run('delete from live_event where id <= ? or at < ?', upTo, before), {
    durable: false,
  })
}
