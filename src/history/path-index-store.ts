import { setImmediate as nextTurn } from 'node:timers/promises'
import { moveFollower, writeFollowed } from '../commits/index.ts'
import type { Database, Reader, Transaction } from '../database/index.ts'
import { type LibraryPath, parentOf, pathKey, ROOT } from '../objects/index.ts'
import { type EditRow, type OriginRow, putEdits, putOrigins } from './file-history-store.ts'
import { putTrash, setPresence, type TrashPresence, type TrashRow } from './trash-store.ts'

export const PATHS_FOLLOWER = 'paths'

// Rows of one transaction: others want to write too.
const ROWS_A_WRITE = 500

export interface FirstSeenRow {
  readonly path: LibraryPath
  readonly author: string
  readonly addedAt: number
}

/** What a run of commits adds to the index. */
export interface Advance {
  readonly from: number
  readonly upTo: number
  readonly trash: readonly (TrashRow & TrashPresence)[]
  readonly firstSeen: readonly FirstSeenRow[]
  readonly origins: readonly OriginRow[]
  readonly edits: readonly EditRow[]
  /** Rows of the trash that were there before, and whose paths hold something else now. */
  readonly presence: readonly TrashPresence[]
}

/**
 * False if the follower is not at `from` any more: another process did this step. A large step is
 * written in several transactions ahead of the one that moves the follower: a row says the same however
 * often it is written, and a step that is broken off is simply taken again.
 */
export async function advance(db: Database, libraryKey: number, step: Advance): Promise<boolean> {
  const parts = [...partsOf(step, libraryKey)]
  const last = parts.pop()
  const move = { libraryKey, name: PATHS_FOLLOWER, from: step.from }
  for (const part of parts) {
    if (!(await writeFollowed(db, { ...move, to: step.from }, part))) return false
    await nextTurn()
  }
  return writeFollowed(db, { ...move, to: step.upTo }, last)
}

const DERIVED = ['trash_item', 'first_seen', 'path_origin', 'file_edit']

/** Drops what was derived for a library, some rows at a time; it is followed from its first commit again. */
export async function dropDerived(db: Database, libraryKey: number): Promise<void> {
  await db.write((tx) => moveFollower(tx, libraryKey, PATHS_FOLLOWER, 0), { durable: false })
  for (const table of DERIVED) {
    const sql = `delete from ${table} where library_key = ? and path_key in
      (select path_key from ${table} where library_key = ? limit ${ROWS_A_WRITE})`
    while ((await db.write((tx) => tx.run(sql, libraryKey, libraryKey), { durable: false })) > 0) {
      await nextTurn()
    }
  }
}

type Part = (tx: Transaction) => Promise<void>

function* partsOf(step: Advance, libraryKey: number): Generator<Part> {
  const { trash, presence, firstSeen, origins, edits } = step
  const count = trash.length + presence.length + firstSeen.length + origins.length + edits.length
  const most = count <= ROWS_A_WRITE ? count : ROWS_A_WRITE
  const parts: Part[] = [
    ...cut(trash, most).map(
      (rows): Part =>
        (tx) =>
          putTrash(tx, libraryKey, rows, step.upTo),
    ),
    ...cut(presence, most).map(
      (rows): Part =>
        (tx) =>
          setPresence(tx, libraryKey, rows),
    ),
    ...cut(firstSeen, most).map(
      (rows): Part =>
        (tx) =>
          putFirstSeen(tx, libraryKey, rows),
    ),
    ...cut(origins, most).map(
      (rows): Part =>
        (tx) =>
          putOrigins(tx, libraryKey, rows),
    ),
    ...cut(edits, most).map(
      (rows): Part =>
        (tx) =>
          putEdits(tx, libraryKey, rows),
    ),
  ]
  if (count > ROWS_A_WRITE) return yield* parts
  yield async (tx) => {
    for (const part of parts) await part(tx)
  }
}

function cut<T>(rows: readonly T[], most: number): (readonly T[])[] {
  const parts: (readonly T[])[] = []
  for (let start = 0; start < rows.length; start += most) parts.push(rows.slice(start, start + most))
  return parts
}

/** The first to add a path keeps the credit. */
async function putFirstSeen(
  tx: Transaction,
  libraryKey: number,
  rows: readonly FirstSeenRow[],
): Promise<void> {
  const columns = ['library_key', 'path_key', 'author', 'added_at']
  const first = new Map<string, FirstSeenRow>()
  for (const row of rows) if (!first.has(row.path)) first.set(row.path, row)
  const values = Array.from(first.values(), ({ path, author, addedAt }) => {
    return [libraryKey, pathKey(path), author, addedAt]
  })
  await tx.insert('first_seen', columns, values, { ignoreExisting: true })
}

/** Who added a path first: the path itself, or the folder it came with. */
export async function findFirstSeen(
  reader: Reader,
  libraryKey: number,
  path: LibraryPath,
): Promise<{ author: string; addedAt: number } | undefined> {
  for (let at = path; at !== ROOT; at = parentOf(at)) {
    const row = await reader.get<{ author: string; added_at: number }>(
      'select author, added_at from first_seen where library_key = ? and path_key = ?',
      libraryKey,
      pathKey(at),
    )
    if (row !== undefined) return { author: row.author, addedAt: row.added_at }
  }
  return undefined
}
