import type { LibraryPath } from '../../base/paths/index.ts'
import { inGroups, type Reader, type Transaction } from '../../platform/database/index.ts'

/** Counted up when words are taken from comments in another way. Comments of another version are indexed again. */
const WORDS_VERSION = 1
const LIBRARIES_PER_QUERY = 50

/** A comment that a search looks at, with its file in the origin. */
export interface IndexedComment {
  readonly id: number
  readonly libraryKey: number
  readonly path: LibraryPath
  readonly text: string
  /** E-mail. */
  readonly author: string
  /** Unix seconds. */
  readonly createdAt: number
}

/** Replaces the words of a comment in the index. */
export async function putCommentWords(
  tx: Transaction,
  libraryKey: number,
  commentKey: number,
  words: Iterable<string>,
): Promise<void> {
  await tx.run('delete from comment_word where comment_key = ?', commentKey)
  const rows = Array.from(words, (word) => [libraryKey, word, commentKey])
  if (rows.length > 0) await tx.insert('comment_word', ['library_key', 'word', 'comment_key'], rows)
  await tx.run('update file_comment set words_version = ? where key = ?', WORDS_VERSION, commentKey)
}

/** Comments whose words are not in the index, the oldest `limit`. */
export async function listUnindexed(
  reader: Reader,
  limit: number,
): Promise<{ key: number; libraryKey: number; text: string }[]> {
  const rows = await reader.all<{ key: number; library_key: number; comment: string }>(
    `select c.key, f.library_key, c.comment from file_comment c join annotated_file f on f.key = c.file_key
     where c.words_version < ${WORDS_VERSION} order by c.key limit ?`,
    limit,
  )
  return rows.map(({ key, library_key, comment }) => ({ key, libraryKey: library_key, text: comment }))
}

/** Keys of comments with a word, at most `limit` of each library: the newest, or any with a word that begins so. */
export async function listCommentsWith(
  reader: Reader,
  libraryKeys: readonly number[],
  { word, isPrefix }: { readonly word: string; readonly isPrefix: boolean },
  limit: number,
): Promise<number[]> {
  const condition = isPrefix ? 'word >= ? and word < ?' : 'word = ?'
  const bounds = isPrefix ? [word, `${word}\u{10ffff}`] : [word]
  // A prefix has several words, whose comments are in no common order. Sorting them would mean to read them all.
  const order = isPrefix ? '' : 'order by comment_key desc'
  const found: number[] = []
  for (const { some } of inGroups(libraryKeys, LIBRARIES_PER_QUERY)) {
    const parts = some.map(
      (_, index) => `select * from (select comment_key from comment_word
        where library_key = ? and ${condition} ${order} limit ${limit}) q${index}`,
    )
    const values = some.flatMap((libraryKey) => [libraryKey, ...bounds])
    const rows = await reader.all<{ comment_key: number }>(parts.join(' union all '), ...values)
    for (const { comment_key } of rows) found.push(comment_key)
  }
  return found
}

/** Comments by key, newest first, except those on files that were deleted. */
export async function findIndexed(reader: Reader, keys: readonly number[]): Promise<IndexedComment[]> {
  const found: IndexedComment[] = []
  for (const { some, marks } of inGroups(keys)) {
    const rows = await reader.all<{
      key: number
      library_key: number
      path: string
      comment: string
      author: string
      created_at: number
    }>(
      `select c.key, f.library_key, f.path, c.comment, c.author, c.created_at
       from file_comment c join annotated_file f on f.key = c.file_key where c.key in (${marks}) and f.missing_since is null`,
      ...some,
    )
    for (const row of rows)
      found.push({
        id: row.key,
        libraryKey: row.library_key,
        path: row.path as LibraryPath,
        text: row.comment,
        author: row.author,
        createdAt: row.created_at,
      })
  }
  return found.sort((a, b) => b.id - a.id)
}
