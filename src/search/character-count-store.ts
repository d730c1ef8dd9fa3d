import type { Database, Dialect, Transaction } from '../database/index.ts'
import { keysIn } from './key-list.ts'
import type { Scope } from './match-request.ts'
import { type Sql, sql } from './sql.ts'
import { lettersOf } from './tokens.ts'

const ROWS_PER_STATEMENT = 200

/** Changes of the number of names that contain each letter. */
export class LetterCountChanges {
  readonly #changes: Map<string, number>

  /** Starts as a copy of another. */
  constructor(before?: LetterCountChanges) {
    this.#changes = new Map(before === undefined ? [] : before.#changes)
  }

  note(folded: string, change: 1 | -1): void {
    for (const letter of lettersOf(folded))
      this.#changes.set(letter, (this.#changes.get(letter) ?? 0) + change)
  }

  /** Sorted, so that transactions lock rows in one order (no deadlock). */
  get all(): [letter: string, change: number][] {
    const changes = Array.from(this.#changes).filter(([, change]) => change !== 0)
    return changes.sort(([a], [b]) => (a < b ? -1 : 1))
  }
}

/** The folded names of entries before a change. */
export async function listFolded(
  tx: Transaction,
  dialect: Dialect,
  keys: readonly number[],
): Promise<string[]> {
  if (keys.length === 0) return []
  const among = keysIn(dialect, 'key', keys)
  const rows = await tx.all<{ folded: string }>(
    `select folded from search_entry where ${among.sql}`,
    among.value,
  )
  return rows.map(({ folded }) => folded)
}

export async function addLetterCounts(
  tx: Transaction,
  libraryKey: number,
  changes: readonly (readonly [letter: string, change: number])[],
): Promise<void> {
  for (let start = 0; start < changes.length; start += ROWS_PER_STATEMENT) {
    const some = changes.slice(start, start + ROWS_PER_STATEMENT)
    await tx.run(
      `insert into search_letter (letter, library_key, names) values ${some.map(() => '(?, ?, ?)').join(', ')}
       on conflict (letter, library_key) do update set names = search_letter.names + excluded.names`,
      ...some.flatMap(([letter, change]) => [letter, libraryKey, change]),
    )
  }
}

export async function deleteLetterCounts(tx: Transaction, libraryKey: number): Promise<void> {
  await tx.run('delete from search_letter where library_key = ?', libraryKey)
}

/** As SQL: the number of names in whole libraries that contain a letter. */
export function namesWithLetter(
  { dialect }: Pick<Database, 'dialect'>,
  letter: string,
  { libraries }: Scope,
): Sql {
  const among = keysIn(dialect, 'library_key', libraries)
  const within: Sql = { text: among.sql, values: [among.value] }
  return sql`(select cast(coalesce(sum(names), 0) as bigint) from search_letter where letter = ${letter} and ${within})`
}
