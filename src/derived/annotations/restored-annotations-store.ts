import type { LibraryPath } from '../../base/paths/index.ts'
import type { Database, Transaction, Value } from '../../platform/database/index.ts'
import {
  countAnnotatedFiles,
  findAnnotatedFile,
  MAX_ANNOTATED_FILES,
  putAnnotatedFile,
  restoreDeleted,
  setMissingSince,
} from './annotated-file-store.ts'
import { insertParticipants } from './comment-store.ts'
import { findTagByName, insertTag, listTags } from './tag-store.ts'
import { MAX_TAGS } from './tags.ts'

const ROWS_PER_TRANSACTION = 200
const COMMENT_COLUMNS = ['author', 'comment', 'detail', 'resolved', 'created_at', 'updated_at']

type StoredRow = Readonly<Record<string, Value>>
type Insert = (tx: Transaction) => Promise<unknown>

/** Where comments and tags come from, and where they go. */
interface AnnotationSource {
  readonly db: Database
  /** The rows of a table of the backup. Of a table that its version did not have, none. */
  readonly rows: (table: string) => AsyncIterable<StoredRow>
  /** The key of the library in the backup. */
  readonly fromKey: number
  readonly toKey: number
  /** The path that a file gets; undefined if it is not restored. */
  readonly placeOf: (path: LibraryPath) => LibraryPath | undefined
  /** Restores unused tags and the annotations of deleted files as well. Set for a whole library. */
  readonly isWhole: boolean
  /** The target is the library of the backup, not a copy. Annotations of a file that has been deleted since become visible with the file. */
  readonly isSame: boolean
  /** The account with an e-mail, if there is one. */
  readonly accountKeyOf: (email: string) => Promise<number | undefined>
}

/**
 * Adds the comments and tags that files have in a backup. A file that is annotated now is left as it is, so that a repeated restore adds nothing.
 * Tags are the same if their names are. A comment of an account that is gone keeps the name of its author.
 */
export async function restoreAnnotations(source: AnnotationSource): Promise<void> {
  const { db, rows } = source
  const files = await restoreFiles(source)
  const fileOf = (row: StoredRow) => files.get(row['file_key'] ?? null)
  const tags = await restoreTags(source, fileOf)
  const accountKeyOf = cached(source.accountKeyOf)
  await copy(db, rows('file_comment'), async (row) => {
    const file = fileOf(row)
    if (file === undefined) return undefined
    const hadAccount = row['author_key'] !== null
    const authorKey = hadAccount ? await accountKeyOf(String(row['author'])) : undefined
    const values = [file, authorKey ?? null, ...COMMENT_COLUMNS.map((column) => row[column] ?? null)]
    return (tx) => tx.insert('file_comment', ['file_key', 'author_key', ...COMMENT_COLUMNS], [values])
  })
  await copy(db, rows('file_tag'), async (row) => {
    const file = fileOf(row)
    const tag = tags.get(row['tag_key'] ?? null)
    if (file === undefined || tag === undefined) return undefined
    return (tx) => tx.insert('file_tag', ['file_key', 'tag_key'], [[file, tag]], { ignoreExisting: true })
  })
  if (files.size === 0) return
  const emails = new Map<Value, string>()
  for await (const { key = null, email } of rows('account')) emails.set(key, String(email))
  await copy(db, rows('file_participant'), async (row) => {
    const file = fileOf(row)
    const email = emails.get(row['account_key'] ?? null)
    const accountKey = file === undefined || email === undefined ? undefined : await accountKeyOf(email)
    if (file === undefined || accountKey === undefined) return undefined
    return (tx) => insertParticipants(tx, file, [accountKey])
  })
}

/** The keys of the new rows of files, by their keys in the backup. */
async function restoreFiles({
  db,
  rows,
  fromKey,
  toKey,
  placeOf,
  isWhole,
  isSame,
}: AnnotationSource): Promise<Map<Value, number>> {
  const files = new Map<Value, number>()
  let left = MAX_ANNOTATED_FILES - (await countAnnotatedFiles(db, toKey))
  await copy(db, rows('annotated_file'), async ({ key = null, library_key, path, missing_since = null }) => {
    const isWanted = library_key === fromKey && (isWhole || missing_since === null)
    const place = isWanted ? placeOf(String(path) as LibraryPath) : undefined
    if (place === undefined) return undefined
    return async (tx) => {
      if (left <= 0 || (await findAnnotatedFile(tx, toKey, place)) !== undefined) return
      if (isSame && (await restoreDeleted(tx, toKey, place))) return
      left -= 1
      const file = await putAnnotatedFile(tx, toKey, place)
      files.set(key, file)
      if (missing_since !== null) await setMissingSince(tx, { key: file, path: place }, Number(missing_since))
    }
  })
  return files
}

/** The keys of the tags, by their keys in the backup. */
async function restoreTags(
  { db, rows, fromKey, toKey, isWhole }: AnnotationSource,
  fileOf: (row: StoredRow) => number | undefined,
): Promise<Map<Value, number>> {
  const used = new Set<Value>()
  for await (const row of rows('file_tag')) if (fileOf(row) !== undefined) used.add(row['tag_key'] ?? null)
  const tags = new Map<Value, number>()
  await copy(db, rows('library_tag'), async ({ key = null, library_key, ...row }) => {
    if (library_key !== fromKey || !(isWhole || used.has(key))) return undefined
    const [name, folded, color] = [row['name'], row['name_folded'], row['color']].map(String) as [
      string,
      string,
      string,
    ]
    return async (tx) => {
      const isFull = (await listTags(tx, toKey)).length >= MAX_TAGS
      if (!isFull) await insertTag(tx, toKey, { name, folded, color })
      const tag = await findTagByName(tx, toKey, folded)
      if (tag !== undefined) tags.set(key, tag.id)
    }
  })
  return tags
}

/** Inserts what `prepare` makes of rows, many in one transaction. */
async function copy(
  db: Database,
  rows: AsyncIterable<StoredRow>,
  prepare: (row: StoredRow) => Promise<Insert | undefined>,
): Promise<void> {
  let waiting: Insert[] = []
  const write = async () => {
    const inserts = waiting
    waiting = []
    if (inserts.length === 0) return
    await db.write(async (tx) => {
      for (const insert of inserts) await insert(tx)
    })
  }
  for await (const row of rows) {
    const insert = await prepare(row)
    if (insert === undefined) continue
    waiting.push(insert)
    if (waiting.length >= ROWS_PER_TRANSACTION) await write()
  }
  await write()
}

function cached<T>(find: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const known = new Map<string, Promise<T>>()
  return (key) => {
    const value = known.get(key) ?? find(key)
    known.set(key, value)
    return value
  }
}
