import { type FileId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import { takeTurns } from '../../base/scheduling/index.ts'
import type { Database, Dialect, Reader, Transaction } from '../../platform/database/index.ts'
import { insertRows, removeBodies } from './entry-store.ts'
import { keyRangeOf, keysIn, libraryKeyOf, nextLibrarySql, rootKeyOf, rowOf } from './keys.ts'

/** A file whose text is to be extracted. */
export interface PendingText {
  readonly key: number
  readonly objectId: FileId
  /** Unix seconds. */
  readonly dueAt: number
  readonly attempts: number
  readonly name: string
  readonly size: number
}

/** A file whose text could not be extracted. */
interface TextFailure {
  readonly key: number
  readonly reason: string
  readonly attempts: number
}

/** Queues files for extraction and clears earlier failures. */
export async function putPending(
  tx: Transaction,
  dialect: Dialect,
  rows: readonly { readonly key: number; readonly objectId: FileId }[],
  now: number,
): Promise<void> {
  if (rows.length === 0) return
  await removePending(
    tx,
    dialect,
    rows.map(({ key }) => key),
  )
  await tx.insert(
    'search_pending',
    ['entry_key', 'object_id', 'due_at', 'attempts'],
    rows.map(({ key, objectId }) => [key, idToBytes(objectId), now, 0]),
  )
}

async function removePending(tx: Transaction, dialect: Dialect, keys: readonly number[]): Promise<void> {
  const among = keysIn(dialect, 'entry_key', keys)
  await tx.run(`delete from search_pending where ${among.sql}`, among.value)
}

/** Removes the texts of files that have none any more. */
export async function removeTexts(tx: Transaction, dialect: Dialect, keys: readonly number[]): Promise<void> {
  if (keys.length === 0) return
  // First, as in removeEntries.
  await removePending(tx, dialect, keys)
  const among = keysIn(dialect, 'entry_key', keys)
  await tx.run(`delete from search_text where ${among.sql}`, among.value)
  await removeBodies(tx, dialect, keys)
}

/** Libraries with due files, by key, starting after `after`. */
export async function listPendingLibraries(
  reader: Reader,
  now: number,
  after: number,
  limit: number,
): Promise<number[]> {
  // One index seek per library (loose index scan).
  const next = (bound: string) =>
    `select min(entry_key) from search_pending where reason is null and due_at <= ? and entry_key >= ${bound}`
  const rows = await reader.all<{ entry_key: number }>(
    `with recursive step (n, entry_key) as (
       select 1, (${next('?')})
       union all
       select n + 1, (${next(nextLibrarySql('step.entry_key'))}) from step where n < ? and entry_key is not null
     ) select entry_key from step where entry_key is not null`,
    now,
    rootKeyOf(after + 1),
    now,
    limit,
  )
  return rows.map((row) => libraryKeyOf(row.entry_key))
}

/** Due files of a library, alternating between oldest and latest. */
export async function listPendingOf(
  reader: Reader,
  now: number,
  libraryKey: number,
  limit: number,
): Promise<PendingText[]> {
  const first = await listFrom(reader, now, libraryKey, '', limit)
  if (first.length < limit) return first
  const latest = await listFrom(reader, now, libraryKey, 'desc', limit)
  const byKey = new Map(takeTurns([first, latest], limit).map((pending) => [pending.key, pending]))
  return [...byKey.values()]
}

async function listFrom(
  reader: Reader,
  now: number,
  libraryKey: number,
  order: '' | 'desc',
  limit: number,
): Promise<PendingText[]> {
  const { after, before } = keyRangeOf(libraryKey)
  const rows = await reader.all<{
    entry_key: number
    object_id: Uint8Array
    due_at: number
    attempts: number
    name: string
    size: number
  }>(
    `select p.entry_key, p.object_id, p.due_at, p.attempts, e.name, e.size
     from search_pending p join search_entry e on e.key = p.entry_key
     where p.reason is null and p.due_at <= ? and p.entry_key > ? and p.entry_key < ?
     order by p.entry_key ${order} limit ?`,
    now,
    after,
    before,
    limit,
  )
  return rows.map((row) => ({
    key: row.entry_key,
    objectId: idFromBytes<FileId>(row.object_id),
    dueAt: row.due_at,
    attempts: row.attempts,
    name: row.name,
    size: row.size,
  }))
}

/** When the next file is due, in Unix seconds; undefined if none is queued. */
export async function nextDue(reader: Reader): Promise<number | undefined> {
  const sql = 'select min(due_at) as due_at from search_pending where reason is null'
  return (await reader.get<{ due_at: number | null }>(sql))?.due_at ?? undefined
}

/** Leases a file; false if it changed or another process has the lease. */
export async function claimPending(tx: Transaction, pending: PendingText, until: number): Promise<boolean> {
  const sql = `update search_pending set due_at = ?, attempts = attempts + 1
     where entry_key = ? and object_id = ? and due_at = ? and reason is null`
  return (await tx.run(sql, until, pending.key, idToBytes(pending.objectId), pending.dueAt)) === 1
}

/** Records the result of a file leased `until` then; false if it changed meanwhile. */
export async function endPending(tx: Transaction, pending: PendingText, until: number): Promise<boolean> {
  const sql =
    'delete from search_pending where entry_key = ? and object_id = ? and due_at = ? and reason is null'
  return (await tx.run(sql, pending.key, idToBytes(pending.objectId), until)) === 1
}

export async function postponePending(
  tx: Transaction,
  pending: PendingText,
  until: number,
  dueAt: number,
): Promise<void> {
  const sql = 'update search_pending set due_at = ? where entry_key = ? and object_id = ? and due_at = ?'
  await tx.run(sql, dueAt, pending.key, idToBytes(pending.objectId), until)
}

export async function failPending(
  tx: Transaction,
  pending: PendingText,
  until: number,
  reason: string,
): Promise<void> {
  const sql = 'update search_pending set reason = ? where entry_key = ? and object_id = ? and due_at = ?'
  await tx.run(sql, reason, pending.key, idToBytes(pending.objectId), until)
}

/** Files whose extraction failed; latest first. */
export async function listFailures(reader: Reader, offset: number, limit: number): Promise<TextFailure[]> {
  const rows = await reader.all<{ entry_key: number; reason: string; attempts: number }>(
    `select entry_key, reason, attempts from search_pending where reason is not null
     order by due_at desc, entry_key desc limit ? offset ?`,
    limit,
    offset,
  )
  return rows.map((row) => ({ key: row.entry_key, reason: row.reason, attempts: row.attempts }))
}

/** The number of queued files and of failed ones. */
export async function countPending(reader: Reader): Promise<{ waiting: number; failed: number }> {
  const row = await reader.get<{ all_of_them: number; failed: number }>(
    'select count(*) as all_of_them, count(reason) as failed from search_pending',
  )
  return { waiting: (row?.all_of_them ?? 0) - (row?.failed ?? 0), failed: row?.failed ?? 0 }
}

/** The text of a file object, if it was extracted in the same library before (I7). */
export async function findText(reader: Reader, pending: PendingText): Promise<Uint8Array | undefined> {
  const { after, before } = keyRangeOf(libraryKeyOf(pending.key))
  const sql = 'select body from search_text where object_id = ? and entry_key > ? and entry_key < ? limit 1'
  return (await reader.get<{ body: Uint8Array }>(sql, idToBytes(pending.objectId), after, before))?.body
}

/** The content whose text is indexed or queued, also where extraction failed, by key. */
export async function findTextStates(db: Database, keys: readonly number[]): Promise<Map<number, FileId[]>> {
  const found = new Map<number, FileId[]>()
  // In this order: a text that is extracted meanwhile leaves one table for the other.
  for (const table of ['search_pending', 'search_text']) {
    const among = keysIn(db.dialect, 'entry_key', keys)
    const sql = `select entry_key, object_id from ${table} where ${among.sql}`
    for (const row of await db.all<{ entry_key: number; object_id: Uint8Array }>(sql, among.value)) {
      const ids = found.get(row.entry_key) ?? []
      ids.push(idFromBytes<FileId>(row.object_id))
      found.set(row.entry_key, ids)
    }
  }
  return found
}

/** Texts of files, by key. */
export async function findTexts(db: Database, keys: readonly number[]): Promise<Map<number, Uint8Array>> {
  const among = keysIn(db.dialect, 'entry_key', keys)
  const sql = `select entry_key, body from search_text where ${among.sql}`
  const rows = await db.all<{ entry_key: number; body: Uint8Array }>(sql, among.value)
  return new Map(rows.map(({ entry_key, body }) => [entry_key, body]))
}

/** Stores the compressed text of a file, for excerpts. */
export async function putText(
  tx: Transaction,
  { key, objectId }: PendingText,
  body: Uint8Array,
): Promise<void> {
  await tx.run('delete from search_text where entry_key = ?', key)
  await tx.insert('search_text', ['entry_key', 'object_id', 'body'], [[key, idToBytes(objectId), body]])
}

/** Indexes texts. `parts`: tokens in the format of the columns. */
export async function putBodies(
  tx: Transaction,
  dialect: Dialect,
  bodies: readonly { readonly key: number; readonly parts: readonly string[] }[],
): Promise<void> {
  if (bodies.length === 0) return
  await removeBodies(
    tx,
    dialect,
    bodies.map(({ key }) => key),
  )
  if (dialect === 'sqlite') {
    const rows = bodies.map(({ key, parts }): [number, string] => [rowOf(key), parts.join(' ')])
    return insertRows(tx, 'search_body', rows)
  }
  await tx.insert(
    'search_body',
    ['entry_key', 'part', 'is_whole', 'tokens'],
    bodies.flatMap(({ key, parts }) =>
      parts.map((tokens, index) => [key, index, parts.length === 1 ? 1 : 0, tokens]),
    ),
  )
}
