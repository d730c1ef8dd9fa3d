import type { Deletion, Value } from './database.ts'

/** A query that finds a row if there is one to delete. */
export function anyToDelete(deletions: readonly Deletion[]): string {
  const found = deletions.map(({ table, where }) => `exists (select 1 from ${table} where ${where})`)
  return `select 1 as found where ${found.join(' or ')}`
}

/** A statement of PostgreSQL that deletes all, and answers with the number of rows of each, named `n0`, `n1` and so on. */
export function deleteTogether(deletions: readonly Deletion[]): string {
  const deleted = deletions.map(
    ({ table, where }, at) => `d${at} as (delete from ${table} where ${where} returning 1)`,
  )
  const counts = deletions.map((_, at) => `(select count(*) from d${at}) as n${at}`)
  return `with ${deleted.join(', ')} select ${counts.join(', ')}`
}

export function deletionOf({ table, where }: Deletion): string {
  return `delete from ${table} where ${where}`
}

export function parametersOf(deletions: readonly Deletion[]): Value[] {
  const [only] = deletions
  return deletions.length === 1 && only !== undefined
    ? [...only.parameters]
    : deletions.flatMap(({ parameters }) => parameters)
}
