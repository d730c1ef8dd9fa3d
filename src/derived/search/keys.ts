import type { Dialect } from '../../platform/database/index.ts'

// The key of an entry combines the key of its library and a number within it, so that the library of
// a match is known without a lookup. 2^24 libraries of 2^29 numbers make 53 bits.
const SPAN = 2 ** 29
const MAX_LIBRARIES = 2 ** 24

/** The parent key of the entries in a library's root. It has no row. */
export function rootKeyOf(libraryKey: number): number {
  if (libraryKey >= MAX_LIBRARIES)
    throw new RangeError(`library ${libraryKey} is one too many to be searched`)
  return libraryKey * SPAN
}

export function libraryKeyOf(entryKey: number): number {
  return Math.floor(entryKey / SPAN)
}

/** As SQL, for a column of entry keys. */
export const libraryKeySql = (column: string) => `${column} / ${SPAN}`

/** As SQL: the first key of the library after that of an entry. */
export const nextLibrarySql = (column: string) => `(${column} / ${SPAN} + 1) * ${SPAN}`

/** The key range of a library's entries, exclusive. */
export function keyRangeOf(libraryKey: number): { after: number; before: number } {
  return { after: rootKeyOf(libraryKey), before: rootKeyOf(libraryKey) + SPAN }
}

// FTS5 tables are scanned in ascending row order; descending is expensive. So the newest entries get the lowest rows.
const HIGHEST = 2 ** 53 - 1

/** The row of an entry in the tables of FTS5. */
export function rowOf(entryKey: number): number {
  return HIGHEST - entryKey
}

/** As SQL: converts between entry keys and FTS5 rows. */
export const turnedSql = (column: string) => `(${HIGHEST} - ${column})`

export function entryKey(libraryKey: number, number: number): number {
  if (number >= SPAN) throw new RangeError(`library ${libraryKey} has had too many entries to number them`)
  return rootKeyOf(libraryKey) + number
}

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
