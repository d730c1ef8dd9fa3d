import type { Dialect } from '../../platform/database/index.ts'

/** A condition that a column is one of many keys, with a single parameter. */
export function keysIn(
  dialect: Dialect,
  column: string,
  keys: readonly number[],
): { sql: string; value: string } {
  if (dialect === 'sqlite') {
    return { sql: `${column} in (select value from json_each(?))`, value: JSON.stringify(keys) }
  }
  return { sql: `${column} = any(?::bigint[])`, value: `{${keys.join(',')}}` }
}

/** Keys as rows of a column `key`, with a single parameter. */
export function keyRows(dialect: Dialect, keys: readonly number[]): { text: string; values: [string] } {
  if (dialect === 'sqlite')
    return { text: 'select value as key from json_each(?)', values: [JSON.stringify(keys)] }
  return { text: 'select unnest(?::bigint[]) as key', values: [`{${keys.join(',')}}`] }
}
