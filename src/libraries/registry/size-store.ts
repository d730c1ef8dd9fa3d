import { type DirId, idToBytes } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { objectRows } from '../tree/index.ts'

/**
 * SQL expression for the file size of libraries: the bytes of their current files. Deleted libraries do not count. Every figure of that name is this
 * sum, so that equal labels show equal numbers. Null for no rows; PostgreSQL sums bigint as numeric, which arrives as text.
 */
const fileSizeSum = 'sum(case when deleted_at is null then size else 0 end)'

/** SQL expression for the file size of an account's libraries. `owner` is a column or a placeholder. */
function ownedBytes(owner: string): string {
  return `(select coalesce(${fileSizeSum}, 0) from library where owner_key = ${owner} and deleted_at is null)`
}

/** The file size of all libraries of an owner. */
async function usageOf(reader: Reader, ownerKey: number): Promise<number> {
  const row = await reader.get<{ used: number | string | null }>(
    `select ${fileSizeSum} as used from library where owner_key = ? and deleted_at is null`,
    ownerKey,
  )
  // PostgreSQL sums bigint as numeric, which arrives as text.
  return Number(row?.used ?? 0)
}

/** The file size by owner key. Owners without libraries are omitted. */
async function usageOfMany(reader: Reader, ownerKeys: readonly number[]): Promise<Map<number, number>> {
  if (ownerKeys.length === 0) return new Map()
  const rows = await reader.all<{ owner_key: number; used: number | string }>(
    `select owner_key, ${fileSizeSum} as used from library
     where deleted_at is null and owner_key in (${ownerKeys.map(() => '?').join(', ')}) group by owner_key`,
    ...ownerKeys,
  )
  return new Map(rows.map((row) => [row.owner_key, Number(row.used)]))
}

/** Files and folders in the libraries of an owner. */
async function entriesOf(reader: Reader, ownerKey: number): Promise<number> {
  const row = await reader.get<{ entries: number | null }>(
    `select sum(l.file_count + coalesce(o.dir_count, 0)) as entries from library l
       left join ${objectRows.relation} o on o.library_key = l.key and o.id = l.root
     where l.owner_key = ? and l.deleted_at is null`,
    ownerKey,
  )
  return row?.entries ?? 0
}

/** Repair: corrects the sums of a library, unless its head has moved since. */
async function setLibrarySums(
  tx: Transaction,
  key: number,
  root: DirId,
  sums: { readonly size: number; readonly fileCount: number },
): Promise<void> {
  const sql = 'update library set size = ?, file_count = ? where key = ? and root = ?'
  await tx.run(sql, sums.size, sums.fileCount, key, idToBytes(root))
}

/** Sizes of libraries: their bytes, files and folders. */
export const librarySizes = {
  fileSizeSum,
  ownedBytes,
  bytesOf: usageOf,
  bytesOfMany: usageOfMany,
  entriesOf,
  repair: setLibrarySums,
}
