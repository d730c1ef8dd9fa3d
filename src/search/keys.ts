// The key of an entry is that of its library and a number within it, so that neither a list of matches nor
// a range of them has to be looked up to know their library. 2^24 libraries of 2^29 numbers make 53 bits.
const SPAN = 2 ** 29
const MOST_LIBRARIES = 2 ** 24

/** The parent of what is in a library's root. It is no entry itself. */
export function rootKeyOf(libraryKey: number): number {
  if (libraryKey >= MOST_LIBRARIES)
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

/** The keys of a library's entries: between these two, both left out. */
export function keyRangeOf(libraryKey: number): { after: number; before: number } {
  return { after: rootKeyOf(libraryKey), before: rootKeyOf(libraryKey) + SPAN }
}

// The tables of FTS5 are read from the lowest row on, and backwards only with effort: the newest are the lowest.
const HIGHEST = 2 ** 53 - 1

/** The row of an entry in the tables of FTS5. */
export function rowOf(entryKey: number): number {
  return HIGHEST - entryKey
}

/** As SQL: the key of the entry with a row of FTS5, and the other way round. */
export const turnedSql = (column: string) => `(${HIGHEST} - ${column})`

export function entryKey(libraryKey: number, number: number): number {
  if (number >= SPAN) throw new RangeError(`library ${libraryKey} has had too many entries to number them`)
  return rootKeyOf(libraryKey) + number
}
