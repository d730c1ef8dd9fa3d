import { type LibraryPath, pathKey } from '../../base/paths/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** A comment on a file. */
export interface Comment {
  readonly id: number
  /** Of the file, in the origin. */
  readonly path: LibraryPath
  /** Undefined if the account was removed. */
  readonly authorKey: number | undefined
  /** E-mail. */
  readonly author: string
  readonly text: string
  /** Data of the client, such as the position in a document. Not interpreted. */
  readonly detail: string
  readonly resolved: boolean
  /** Unix seconds. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** The changes of a comment; undefined leaves a value as it is. */
export interface CommentChanges {
  readonly text?: string | undefined
  readonly detail?: string | undefined
  readonly resolved?: boolean | undefined
}

interface CommentRow {
  key: number
  path: string
  author_key: number | null
  author: string
  comment: string
  detail: string
  resolved: number
  created_at: number
  updated_at: number
}

const SELECT = `select c.key, f.path, c.author_key, c.author, c.comment, c.detail, c.resolved, c.created_at, c.updated_at
  from file_comment c join annotated_file f on f.key = c.file_key`

/** The comments on a file, oldest first. */
export async function listComments(reader: Reader, fileKey: number): Promise<Comment[]> {
  const rows = await reader.all<CommentRow>(`${SELECT} where c.file_key = ? order by c.key`, fileKey)
  return rows.map(toComment)
}

export async function findComment(
  reader: Reader,
  libraryKey: number,
  id: number,
): Promise<Comment | undefined> {
  const sql = `${SELECT} where c.key = ? and f.library_key = ? and f.missing_since is null`
  const row = await reader.get<CommentRow>(sql, id, libraryKey)
  return row && toComment(row)
}

export async function countComments(reader: Reader, fileKey: number): Promise<number> {
  const sql = 'select count(*) as n from file_comment where file_key = ?'
  return (await reader.get<{ n: number }>(sql, fileKey))?.n ?? 0
}

/** Characters of the comments on a file, with their details, other than one. */
export async function countCharacters(reader: Reader, fileKey: number, except = 0): Promise<number> {
  const row = await reader.get<{ n: number }>(
    'select coalesce(sum(length(comment) + length(detail)), 0) as n from file_comment where file_key = ? and key <> ?',
    fileKey,
    except,
  )
  return row?.n ?? 0
}

/** The number of comments that an account wrote. */
export async function countCommentsBy(reader: Reader, authorKey: number): Promise<number> {
  const sql = 'select count(*) as n from file_comment where author_key = ?'
  return (await reader.get<{ n: number }>(sql, authorKey))?.n ?? 0
}

/** The number of comments of each commented file directly in a folder, by path in the origin. */
export async function countCommentsIn(
  reader: Reader,
  libraryKey: number,
  folder: LibraryPath,
): Promise<Map<LibraryPath, number>> {
  const rows = await reader.all<{ path: string; n: number }>(
    `select f.path, count(*) as n from annotated_file f join file_comment c on c.file_key = f.key
     where f.library_key = ? and f.folder_key = ? and f.missing_since is null group by f.path`,
    libraryKey,
    pathKey(folder),
  )
  return new Map(rows.map(({ path, n }) => [path as LibraryPath, n]))
}

/** Returns the id. */
export async function insertComment(
  tx: Transaction,
  fileKey: number,
  comment: Omit<Comment, 'id' | 'path' | 'authorKey'> & { readonly authorKey: number },
): Promise<number> {
  const row = await tx.get<{ key: number }>(
    `insert into file_comment (file_key, author_key, author, comment, detail, resolved, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, ?, ?) returning key`,
    fileKey,
    comment.authorKey,
    comment.author,
    comment.text,
    comment.detail,
    comment.resolved ? 1 : 0,
    comment.createdAt,
    comment.updatedAt,
  )
  return row?.key ?? 0
}

export async function updateComment(tx: Transaction, { id, ...comment }: Comment): Promise<void> {
  await tx.run(
    'update file_comment set comment = ?, detail = ?, resolved = ?, updated_at = ? where key = ?',
    comment.text,
    comment.detail,
    comment.resolved ? 1 : 0,
    comment.updatedAt,
    id,
  )
}

export async function deleteComment(tx: Transaction, id: number): Promise<void> {
  await tx.run('delete from file_comment where key = ?', id)
}

function toComment(row: CommentRow): Comment {
  return {
    id: row.key,
    path: row.path as LibraryPath,
    authorKey: row.author_key ?? undefined,
    author: row.author,
    text: row.comment,
    detail: row.detail,
    resolved: row.resolved === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** The accounts that are notified of comments on a file, by key. */
export async function listParticipants(reader: Reader, fileKey: number): Promise<number[]> {
  const sql = 'select account_key from file_participant where file_key = ? order by account_key'
  return (await reader.all<{ account_key: number }>(sql, fileKey)).map((row) => row.account_key)
}

/** Idempotent. */
export async function insertParticipants(
  tx: Transaction,
  fileKey: number,
  accountKeys: Iterable<number>,
): Promise<void> {
  const rows = [...new Set(accountKeys)].map((accountKey) => [fileKey, accountKey])
  if (rows.length === 0) return
  await tx.insert('file_participant', ['file_key', 'account_key'], rows, { ignoreExisting: true })
}

export async function deleteParticipant(tx: Transaction, fileKey: number, accountKey: number): Promise<void> {
  await tx.run('delete from file_participant where file_key = ? and account_key = ?', fileKey, accountKey)
}
