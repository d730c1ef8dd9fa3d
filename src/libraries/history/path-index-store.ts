import { setImmediate as nextTurn } from 'node:timers/promises'
import { type LibraryPath, parentOf, ROOT } from '../../base/paths/index.ts'
import {
  type Database,
  inGroups,
  type Reader,
  type Transaction,
  type Value,
} from '../../platform/database/index.ts'
import { positionRows } from '../consumers/index.ts'
import { libraryHeads } from '../registry/index.ts'
import { type EditRow, type OriginRow, originKey, putEdits, putOrigins } from './file-history-store.ts'
import { putTrash, setPresence, type TrashPresence, type TrashRow } from './trash-store.ts'

export const PATHS_CONSUMER = 'paths'

// Limited, so that other writers do not wait long.
const ROWS_PER_TRANSACTION = 500

export interface FirstSeenRow {
  readonly path: LibraryPath
  readonly author: string
  /** A visitor of a link added it; `author` is the creator of the link. */
  readonly viaLink: boolean
  /** The path of a renamed or moved entry before. */
  readonly oldPath?: LibraryPath
  readonly addedAt: number
}

/** The rows that a range of commits adds to the index. */
export interface Advance {
  readonly from: number
  readonly upTo: number
  readonly trash: readonly (TrashRow & TrashPresence)[]
  readonly firstSeen: readonly FirstSeenRow[]
  readonly origins: readonly OriginRow[]
  readonly edits: readonly EditRow[]
  /** Existing trash rows whose `present` changed. */
  readonly presence: readonly TrashPresence[]
}

/**
 * Returns the last part of a step, to be written in the transaction that moves the position. The other parts of a large step are written before, in
 * transactions of their own. That is idempotent, so an interrupted step is repeated. Undefined if the position is no longer `from`, because another
 * process did this step.
 */
export async function advance(db: Database, libraryKey: number, step: Advance): Promise<Part | undefined> {
  const parts = [...partsOf(step, libraryKey)]
  const last = parts.pop() ?? (async () => {})
  const { from } = step
  for (const part of parts) {
    const move = { libraryKey, name: PATHS_CONSUMER, from, to: from }
    if (!(await positionRows.writeFollowed(db, move, part))) return undefined
    await nextTurn()
  }
  return last
}

const DERIVED = ['trash_item', 'first_seen', 'path_origin', 'file_edit']

/** Deletes the derived rows of a library in batches and resets the position to its first commit. */
export async function dropDerived(db: Database, libraryKey: number): Promise<void> {
  await db.write(
    async (tx) => {
      await positionRows.set(tx, libraryKey, PATHS_CONSUMER, 0)
      // Backups read the rows again, although there is no new commit.
      await libraryHeads.raiseObjectsEpoch(tx, libraryKey)
    },
    { durable: false },
  )
  for (const table of DERIVED) {
    const sql = `delete from ${table} where library_key = ? and path_key in
      (select path_key from ${table} where library_key = ? limit ${ROWS_PER_TRANSACTION})`
    while ((await db.write((tx) => tx.run(sql, libraryKey, libraryKey), { durable: false })) > 0) {
      await nextTurn()
    }
  }
}

type Part = (tx: Transaction) => Promise<void>

function* partsOf(step: Advance, libraryKey: number): Generator<Part> {
  const { trash, presence, firstSeen, origins, edits } = step
  const count = trash.length + presence.length + firstSeen.length + origins.length + edits.length
  const most = count <= ROWS_PER_TRANSACTION ? count : ROWS_PER_TRANSACTION
  const parts: Part[] = [
    ...inBatches(trash, most).map(
      (rows): Part =>
        (tx) =>
          putTrash(tx, libraryKey, rows, step.upTo),
    ),
    ...inBatches(presence, most).map(
      (rows): Part =>
        (tx) =>
          setPresence(tx, libraryKey, rows),
    ),
    ...inBatches(firstSeen, most).map(
      (rows): Part =>
        (tx) =>
          putFirstSeen(tx, libraryKey, rows),
    ),
    ...inBatches(origins, most).map(
      (rows): Part =>
        (tx) =>
          putOrigins(tx, libraryKey, rows),
    ),
    ...inBatches(edits, most).map(
      (rows): Part =>
        (tx) =>
          putEdits(tx, libraryKey, rows),
    ),
  ]
  if (count > ROWS_PER_TRANSACTION) return yield* parts
  yield async (tx) => {
    // Each writes to another table, or to other rows.
    await Promise.all(parts.map((part) => part(tx)))
  }
}

function inBatches<T>(rows: readonly T[], most: number): (readonly T[])[] {
  const parts: (readonly T[])[] = []
  for (let start = 0; start < rows.length; start += most) parts.push(rows.slice(start, start + most))
  return parts
}

/** Existing rows win: the first author of a path is kept. A file of a visitor stays one when it is renamed. */
async function putFirstSeen(
  tx: Transaction,
  libraryKey: number,
  rows: readonly FirstSeenRow[],
): Promise<void> {
  const columns = ['library_key', 'path_key', 'author', 'added_at', 'via_link']
  const renamed = rows.flatMap(({ oldPath }) => (oldPath === undefined ? [] : [originKey(oldPath)]))
  const visitors = await listVisitorsKeysAmong(tx, libraryKey, renamed)
  const first = new Map<string, Value[]>()
  for (const { path, oldPath, author, addedAt, viaLink } of rows) {
    const key = originKey(path)
    const id = key.toString('hex')
    if (first.has(id)) continue
    const isVisitors = viaLink || (oldPath !== undefined && visitors.has(originKey(oldPath).toString('hex')))
    // A later row of this batch may rename it again.
    if (isVisitors) visitors.add(id)
    first.set(id, [libraryKey, key, author, addedAt, isVisitors ? 1 : 0])
  }
  const values = [...first.values()]
  await tx.insert('first_seen', columns, values, { ignoreExisting: true })
}

/** The first author of a path, or of the folder it was added with. */
export async function findFirstSeen(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
): Promise<{ author: string; viaLink: boolean; addedAt: number } | undefined> {
  for (let at = path; at !== ROOT; at = parentOf(at)) {
    const row = await reader.get<{ author: string; added_at: number; via_link: number }>(
      'select author, added_at, via_link from first_seen where library_key = ? and path_key = ?',
      libraryKey,
      originKey(at),
    )
    if (row !== undefined) return { author: row.author, viaLink: row.via_link === 1, addedAt: row.added_at }
  }
  return undefined
}

/** Those of `keys` whose paths visitors of links added, in hexadecimal. */
export async function listVisitorsKeysAmong(
  reader: Reader,
  libraryKey: number,
  keys: readonly Uint8Array[],
): Promise<Set<string>> {
  const found = new Set<string>()
  for (const { some, marks } of inGroups(keys)) {
    const rows = await reader.all<{ path_key: Uint8Array }>(
      `select path_key from first_seen where library_key = ? and via_link = 1 and path_key in (${marks})`,
      libraryKey,
      ...some,
    )
    for (const row of rows) found.add(Buffer.from(row.path_key).toString('hex'))
  }
  return found
}

/** The keys of paths that visitors of links added, in hexadecimal; at most `limit`. */
export async function listVisitorsKeys(
  reader: Reader,
  libraryKey: number,
  limit: number,
): Promise<Set<string>> {
  const rows = await reader.all<{ path_key: Uint8Array }>(
    'select path_key from first_seen where library_key = ? and via_link = 1 limit ?',
    libraryKey,
    limit,
  )
  return new Set(rows.map((row) => Buffer.from(row.path_key).toString('hex')))
}

/**
 * Deletes up to `limit` rows about what happened before a commit. The commit itself is the oldest that is shown. Both subqueries are ranges of an
 * index, so rows that stay are not read.
 */
export async function deletePathIndexBelow(
  tx: Transaction,
  libraryKey: number,
  seq: number,
  limit: number,
): Promise<number> {
  const trash = await tx.run(
    `delete from trash_item where library_key = ? and path_key in
       (select path_key from trash_item where library_key = ? and present in (0, 1) and seq <= ? limit ?)`,
    libraryKey,
    libraryKey,
    seq,
    limit,
  )
  if (trash > 0) return trash
  return tx.run(
    `delete from file_edit where library_key = ? and (path_key, seq) in
       (select path_key, seq from file_edit where library_key = ? and seq < ? limit ?)`,
    libraryKey,
    libraryKey,
    seq,
    limit,
  )
}

/** A page of the origins of a library after a key and a commit, ascending. */
export async function listOriginsAfter(
  reader: Reader,
  libraryKey: number,
  after: { readonly key: Uint8Array; readonly seq: number },
  limit: number,
): Promise<{ path_key: Uint8Array; seq: number }[]> {
  return reader.all(
    `select path_key, seq from path_origin where library_key = ? and (path_key, seq) > (?, ?)
     order by path_key, seq limit ?`,
    libraryKey,
    after.key,
    after.seq,
    limit,
  )
}

/** A page of the first authors of a library after a key, ascending. */
export async function listFirstSeenAfter(
  reader: Reader,
  libraryKey: number,
  after: Uint8Array,
  limit: number,
): Promise<{ path_key: Uint8Array; added_at: number }[]> {
  return reader.all(
    `select path_key, added_at from first_seen where library_key = ? and path_key > ?
     order by path_key limit ?`,
    libraryKey,
    after,
    limit,
  )
}

/** Deletes origins by key and commit. */
export async function deleteOrigins(
  tx: Transaction,
  libraryKey: number,
  rows: readonly { readonly key: Uint8Array; readonly seq: number }[],
): Promise<void> {
  const sql = 'delete from path_origin where library_key = ? and path_key = ? and seq = ?'
  await Promise.all(rows.map(({ key, seq }) => tx.run(sql, libraryKey, key, seq)))
}

/** Deletes the first authors of those of `keys` that have no origin any more. */
export async function deleteFirstSeen(
  tx: Transaction,
  libraryKey: number,
  keys: readonly Uint8Array[],
): Promise<void> {
  const sql = `delete from first_seen where library_key = ? and path_key = ? and not exists
    (select 1 from path_origin o where o.library_key = first_seen.library_key and o.path_key = first_seen.path_key)`
  await Promise.all(keys.map((key) => tx.run(sql, libraryKey, key)))
}
