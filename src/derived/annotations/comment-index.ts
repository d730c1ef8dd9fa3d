import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Database, Reader, Transaction } from '../../platform/database/index.ts'
import { fold, type Query, type Term, tokensIn } from '../search/index.ts'
import {
  findIndexed,
  type IndexedComment,
  listCommentsWith,
  listUnindexed,
  putCommentWords,
} from './comment-word-store.ts'

/** Limits: the words of a comment, those of a search, and the comments that a search looks at. */
const MAX_WORDS = 500
const MAX_SEARCH_WORDS = 8
const MAX_OF_WORD = 1000
const MAX_COMPARED = 200
const COMMENTS_PER_STEP = 20

/** Puts the words of a comment into the index, in the transaction that adds or changes it. */
export async function indexComment(
  tx: Transaction,
  libraryKey: number,
  { id, text }: { readonly id: number; readonly text: string },
): Promise<void> {
  await putCommentWords(tx, libraryKey, id, wordsOf(text))
}

/** Maintenance: indexes comments that were written before there was an index. Resolves to their number. */
export async function indexComments(db: Database, signal: AbortSignal): Promise<number> {
  for (let count = 0; ; ) {
    const indexed = await db.write(indexSome, { durable: false })
    count += indexed
    if (indexed === 0 || signal.aborted) return count
  }
}

async function indexSome(tx: Transaction): Promise<number> {
  const some = await listUnindexed(tx, COMMENTS_PER_STEP)
  for (const { key, libraryKey, text } of some) await indexComment(tx, libraryKey, { id: key, text })
  return some.length
}

/**
 * Comments of some libraries that contain all terms of a query and none of the excluded ones, newest first. The work is
 * bounded: of a frequent word only the newest comments of each library are looked at.
 */
export async function findComments(
  reader: Reader,
  libraryKeys: readonly number[],
  { terms, excluded }: Query,
): Promise<IndexedComment[]> {
  const words = searchWords(terms)
  if (words.length === 0 || libraryKeys.length === 0) return []
  let keys: Set<number> | undefined
  for (const word of words) {
    const having = new Set(await listCommentsWith(reader, libraryKeys, word, MAX_OF_WORD))
    keys = keys === undefined ? having : keys.intersection(having)
    if (keys.size === 0) return []
  }
  const newest = [...(keys ?? [])].sort((a, b) => b - a).slice(0, MAX_COMPARED)
  const slicer = new TimeSlicer()
  const found: IndexedComment[] = []
  for (const comment of await findIndexed(reader, newest)) {
    if (slicer.isDue) await slicer.rest()
    const folded = fold(comment.text)
    const has = (term: Term) => term.phrases.length === 0 || folded.includes(term.folded)
    // The index has words. A quoted phrase is compared with the text.
    if (terms.every(has) && !excluded.some((term) => term.phrases.length > 0 && has(term)))
      found.push(comment)
  }
  return found
}

/** The words to look up, long ones first, because few comments have them. */
function searchWords(terms: readonly Term[]): { word: string; isPrefix: boolean }[] {
  const words = terms.flatMap(({ phrases }) =>
    phrases.flatMap(({ tokens, prefix }) =>
      tokens.map((word, index) => ({ word, isPrefix: prefix && index === tokens.length - 1 })),
    ),
  )
  return words.sort((a, b) => b.word.length - a.word.length).slice(0, MAX_SEARCH_WORDS)
}

function wordsOf(text: string): Set<string> {
  const words = new Set<string>()
  for (const word of tokensIn(fold(text))) {
    words.add(word)
    if (words.size === MAX_WORDS) break
  }
  return words
}
