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
