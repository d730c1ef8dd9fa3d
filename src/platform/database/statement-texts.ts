import type { Deletion, Value } from './database.ts'

/** The text of an insert of `rowCount` rows. Table and columns are names from our own code. */
export function insertStatement(
  table: string,
  columns: readonly string[],
  rowCount: number,
  ignoreExisting = false,
  placeholder: (index: number) => string = () => '?',
): string {
  let index = 0
  const row = () => `(${columns.map(() => placeholder(index++)).join(', ')})`
  const values = Array.from({ length: rowCount }, row).join(', ')
  const conflict = ignoreExisting ? ' on conflict do nothing' : ''
  return `insert into ${table} (${columns.join(', ')}) values ${values}${conflict}`
}

/**
 * A statement of PostgreSQL that inserts into several tables. Rows are inserted into the last table first. Each statement sees the rows that were there before.
 */
export function insertsTogether(inserts: readonly string[]): string {
  const last = inserts.at(-1) ?? ''
  const others = inserts.slice(0, -1).map((sql, at) => `i${at} as (${sql})`)
  return `with ${others.join(', ')} ${last}`
}

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
