import { type CommitId, idFromBytes, idToBytes, type LibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { positionRows } from '../../libraries/consumers/index.ts'
import { type LibraryDependent, libraryRows } from '../../libraries/registry/index.ts'
import type { AccountDependent } from '../../people/accounts/index.ts'
import { deleteBatch, type Reader, type Transaction, type Value } from '../../platform/database/index.ts'
import type { Activity, ActivityObject, ActivityOp, CommitActivity } from './activity-row.ts'

const COLUMNS = [
  'library_key',
  'account_key',
  'seq',
  'at',
  'rank',
  'op',
  'object',
  'path',
  'old_path',
  'old_name',
  'author',
  'commit_id',
  'days',
  'via_link',
  'unlisted',
]

/** Position of an activity in the feed: newest first; within one second, last in its library first. */
export interface Mark {
  readonly key: number
  readonly at: number
  readonly rank: number
}

/** A sequence of activities: of a library, or those shown to an account regardless of its access. */
export type Lane = { readonly libraryKey: number } | { readonly accountKey: number }

interface StoredActivity extends Activity {
  readonly key: number
  readonly libraryKey: number
  /** Number of the commit; undefined for an activity without one. */
  readonly seq: number | undefined
}

interface ActivityRow {
  key: number
  library_key: number
  seq: number | null
  at: number
  op: string
  object: string
  path: string
  old_path: string | null
  old_name: string | null
  author: string
  commit_id: Uint8Array | null
  days: number | null
  via_link: number
  unlisted: number | null
}

/** Activities of one commit appear in the feed in the given order. */
export async function insertCommitActivities(
  tx: Transaction,
  libraryKey: number,
  activities: readonly CommitActivity[],
): Promise<void> {
  // Reversed, because the last row of a commit comes first in the feed.
  const rows = activities.toReversed().map((one) => rowOf(libraryKey, null, one.seq, 2 * one.seq, one))
  await tx.insert('activity', COLUMNS, rows)
}

/**
 * An action on a library while this was its head. With an account, it is also shown to that account
 * regardless of its access.
 */
export async function insertLibraryAction(
  tx: Transaction,
  library: { readonly key: number; readonly headSeq: number },
  action: Activity,
  accountKey: number | null = null,
): Promise<void> {
  const row = rowOf(library.key, accountKey, null, 2 * library.headSeq + 1, action)
  await tx.insert('activity', COLUMNS, [row])
}

function rowOf(
  libraryKey: number,
  accountKey: number | null,
  seq: number | null,
  rank: number,
  one: Activity,
): Value[] {
  return [
    libraryKey,
    accountKey,
    seq,
    one.at,
    rank,
    one.op,
    one.object,
    one.path,
    one.oldPath ?? null,
    one.oldName ?? null,
    one.author,
    one.commitId === undefined ? null : idToBytes(one.commitId),
    one.days ?? null,
    one.viaLink === true ? 1 : 0,
    one.unlisted ?? null,
  ]
}

/** Deletes activities derived from commits, up to `most`. Returns the number deleted. */
export function deleteDerived(tx: Transaction, libraryKey: number, most?: number): Promise<number> {
  const limit = most === undefined ? '' : `limit ${most}`
  const sql = `delete from activity where key in
    (select key from activity where library_key = ? and seq is not null ${limit})`
  return tx.run(sql, libraryKey)
}

/** Deletes up to `most` activities of some libraries that are older than a time. */
export function deleteActivitiesBefore(
  tx: Transaction,
  libraryKeys: readonly number[],
  before: number,
  most: number,
): Promise<number> {
  return tx.run(
    `delete from activity where key in
       (select key from activity where library_key in (${marks(libraryKeys)}) and at < ? limit ?)`,
    ...libraryKeys,
    before,
    most,
  )
}

/** Of `l`, with the names as parameters. */
const isBehind = (names: readonly string[]) =>
  `l.deleted_at is null and (select count(*) from ${positionRows.relation} f
     where f.library_key = l.key and f.name in (${marks(names)}) and f.seq >= l.head_seq) < ${names.length}`

/** Keys of those libraries that have commits one of the consumers has not processed. */
export async function keysBehind(
  reader: Reader,
  names: readonly string[],
  libraryKeys: readonly number[],
): Promise<number[]> {
  const behind: number[] = []
  for (let start = 0; start < libraryKeys.length; start += 500) {
    const some = libraryKeys.slice(start, start + 500)
    const rows = await reader.all<{ key: number }>(
      `select l.key from ${libraryRows.relation} l where l.key in (${marks(some)}) and ${isBehind(names)}`,
      ...some,
      ...names,
    )
    behind.push(...rows.map((row) => row.key))
  }
  return behind
}

/** Keys of all libraries with commits that one of the consumers has not processed. Reads all of them: for the time after a node died. */
export async function librariesBehind(reader: Reader, names: readonly string[]): Promise<number[]> {
  const rows = await reader.all<{ key: number }>(
    `select l.key from ${libraryRows.relation} l where ${isBehind(names)} order by l.key`,
    ...names,
  )
  return rows.map((row) => row.key)
}

/** Time of the newest activity by library. Libraries without any are omitted. */
export async function newestTimes(
  reader: Reader,
  libraryKeys: readonly number[],
  author: string | undefined,
): Promise<Map<number, number>> {
  const times = new Map<number, number>()
  const by = author === undefined ? '' : 'and a.author = ?'
  for (let start = 0; start < libraryKeys.length; start += 500) {
    const some = libraryKeys.slice(start, start + 500)
    const rows = await reader.all<{ key: number; at: number | null }>(
      `select l.key, (select max(a.at) from activity a where a.library_key = l.key ${by}) as at
       from ${libraryRows.relation} l where l.key in (${marks(some)})`,
      ...(author === undefined ? [] : [author]),
      ...some,
    )
    for (const { key, at } of rows) if (at !== null) times.set(key, at)
  }
  return times
}

interface LaneQuery {
  readonly lane: Lane
  /** Only activities older than this. */
  readonly before: Mark | undefined
  readonly author: string | undefined
  /** Only activities below this folder, by new or old path. Ends with a slash. */
  readonly below: string | undefined
  /** Only activities of these commits, both inclusive. */
  readonly commits: { readonly from: number; readonly to: number } | undefined
  readonly limit: number
}

/** The next marks of several lanes, newest first in each, in one batch. */
export async function listMarks(reader: Reader, queries: readonly LaneQuery[]): Promise<Mark[][]> {
  if (queries.length === 0) return []
  const parameters: Value[] = []
  const parts = queries.map((query, index) => {
    const part = laneSql(query, index)
    parameters.push(...part.parameters)
    return part.sql
  })
  const rows = await reader.all<{ lane: number } & Mark>(
    `${parts.join(' union all ')} order by lane, at desc, rank desc, key desc`,
    ...parameters,
  )
  const lanes: Mark[][] = queries.map(() => [])
  for (const { lane, key, at, rank } of rows) lanes[lane]?.push({ key, at, rank })
  return lanes
}

function laneSql({ lane, before, author, below, commits, limit }: LaneQuery, index: number) {
  const conditions: string[] = []
  const parameters: Value[] = []
  const add = (condition: string, ...values: Value[]) => {
    conditions.push(condition)
    parameters.push(...values)
  }
  if ('libraryKey' in lane) add('library_key = ?', lane.libraryKey)
  else add('account_key = ?', lane.accountKey)
  // A visitor's change has the creator of the link as its author, but is not the creator's.
  if (author !== undefined) add('author = ? and via_link = 0', author)
  if (before !== undefined) {
    const { at, rank, key } = before
    add('at <= ? and (at < ? or rank < ? or (rank = ? and key < ?))', at, at, rank, rank, key)
  }
  if (below !== undefined) {
    // Prefix search: "0" is the character after the slash.
    const end = `${below.slice(0, -1)}0`
    add('((path >= ? and path < ?) or (old_path >= ? and old_path < ?))', below, end, below, end)
  }
  if (commits !== undefined) add('seq >= ? and seq <= ?', commits.from, commits.to)
  const sql = `select * from (select ${index} as lane, key, at, rank from activity where ${conditions.join(' and ')}
    order by at desc, rank desc, key desc limit ${limit}) as lane${index}`
  return { sql, parameters }
}

/** Activities by key. */
export async function findActivities(
  reader: Reader,
  keys: readonly number[],
): Promise<Map<number, StoredActivity>> {
  const found = new Map<number, StoredActivity>()
  for (let start = 0; start < keys.length; start += 500) {
    const some = keys.slice(start, start + 500)
    const rows = await reader.all<ActivityRow>(
      `select key, library_key, seq, at, op, object, path, old_path, old_name, author, commit_id, days, via_link, unlisted
       from activity where key in (${marks(some)})`,
      ...some,
    )
    for (const row of rows) found.set(row.key, toActivity(row))
  }
  return found
}

/** Names of libraries, including deleted ones. */
export async function namesOfLibraries(
  reader: Reader,
  keys: readonly number[],
): Promise<Map<number, { id: LibraryId; name: string }>> {
  if (keys.length === 0) return new Map()
  const rows = await reader.all<{ key: number; id: string; name: string }>(
    `select l.key, l.id, l.name from ${libraryRows.relation} l where l.key in (${marks(keys)})`,
    ...keys,
  )
  return new Map(rows.map((row) => [row.key, { id: row.id as LibraryId, name: row.name }]))
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}

function toActivity(row: ActivityRow): StoredActivity {
  return {
    key: row.key,
    libraryKey: row.library_key,
    seq: row.seq ?? undefined,
    op: row.op as ActivityOp,
    object: row.object as ActivityObject,
    path: row.path as LibraryPath,
    oldPath: (row.old_path ?? undefined) as LibraryPath | undefined,
    oldName: row.old_name ?? undefined,
    author: row.author,
    at: row.at,
    commitId: row.commit_id === null ? undefined : idFromBytes<CommitId>(row.commit_id),
    days: row.days ?? undefined,
    ...(row.via_link === 1 && { viaLink: true }),
    ...(row.unlisted !== null && { unlisted: row.unlisted }),
  }
}

/** Feed, notifications, monitored libraries and webhooks of libraries and accounts that are removed. */
export const activityRows: LibraryDependent & AccountDependent = {
  purgeBatch: (tx, libraryKey, limit) => deleteBatch(tx, 'activity', 'key', libraryKey, limit),

  async onPurged(tx, libraryKey) {
    await tx.run('delete from activity where library_key = ?', libraryKey)
    await tx.run('delete from monitored_library where library_key = ?', libraryKey)
    const webhooks = 'select key from webhook where library_key = ?'
    await tx.run(`delete from webhook_delivery where webhook_key in (${webhooks})`, libraryKey)
    await tx.run('delete from webhook where library_key = ?', libraryKey)
  },

  async onAccountRemoved(tx, { key }) {
    await tx.run('delete from notification where account_key = ?', key)
    await tx.run('delete from monitored_library where account_key = ?', key)
  },
}
