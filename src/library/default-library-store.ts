import type { Reader, Transaction } from '../database/index.ts'

/** The key of the library an account was given as its own; it may have been deleted since. */
export async function defaultLibraryKeyOf(reader: Reader, accountKey: number): Promise<number | null> {
  const row = await reader.get<{ default_library_key: number | null }>(
    'select default_library_key from account where key = ?',
    accountKey,
  )
  return row?.default_library_key ?? null
}

/** False if another default was remembered since `before` was read. */
export async function rememberDefaultLibrary(
  tx: Transaction,
  accountKey: number,
  libraryKey: number,
  before: number | null,
): Promise<boolean> {
  const sql =
    'update account set default_library_key = ? where key = ? and coalesce(default_library_key, 0) = ?'
  return (await tx.run(sql, libraryKey, accountKey, before ?? 0)) === 1
}
