import type { LibraryId } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { LibraryInfo } from './library-info.ts'
import type { LibraryRow } from './library-store.ts'
import { libraryRows, oneLibrary } from './library-store.ts'

async function findDeletedLibrary(reader: Reader, id: LibraryId): Promise<LibraryInfo | undefined> {
  return oneLibrary(reader, 'select * from library where id = ? and deleted_at > 0', id)
}

/** Most recently deleted first. */
async function listDeletedLibrariesOf(reader: Reader, ownerKey: number): Promise<LibraryInfo[]> {
  const rows = await reader.all<LibraryRow>(
    'select * from library where owner_key = ? and deleted_at > 0 order by deleted_at desc, key desc',
    ownerKey,
  )
  return rows.map(libraryRows.read)
}

/** Keys of the libraries deleted before a time, and of those whose purge was interrupted. */
async function listDeletedBefore(
  reader: Reader,
  time: number,
): Promise<{ key: number; id: string; name: string }[]> {
  const sql = 'select key, id, name from library where deleted_at is not null and deleted_at < ?'
  return reader.all<{ key: number; id: string; name: string }>(sql, time)
}

/** False if it is already deleted. */
async function markDeleted(tx: Transaction, key: number, at: number): Promise<boolean> {
  const sql = 'update library set deleted_at = ?, epoch = epoch + 1 where key = ? and deleted_at is null'
  return (await tx.run(sql, at, key)) === 1
}

async function markAllDeleted(tx: Transaction, ownerKey: number, at: number): Promise<void> {
  const sql = `update library set deleted_at = ?, epoch = epoch + 1 where owner_key = ? and deleted_at is null`
  await tx.run(sql, at, ownerKey)
}

/** False if it is not deleted, or if its restore from a backup is unfinished. */
async function unmarkDeleted(tx: Transaction, key: number): Promise<boolean> {
  const sql = 'update library set deleted_at = null where key = ? and deleted_at > 0 and head_seq > 0'
  return (await tx.run(sql, key)) === 1
}

/** For a deleted library whose owner was removed. */
async function setOwnerOfDeleted(tx: Transaction, key: number, ownerKey: number): Promise<void> {
  await tx.run('update library set owner_key = ? where key = ?', ownerKey, key)
}

/** Makes a deleted library impossible to restore. False if it is not deleted. */
async function claimForPurge(tx: Transaction, key: number): Promise<boolean> {
  return (await tx.run('update library set deleted_at = 0 where key = ? and deleted_at is not null', key)) > 0
}

async function deleteLibraryRow(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from library where key = ?', key)
}

/** Libraries in the trash, and those being purged. */
export const deletedLibraries = {
  find: findDeletedLibrary,
  listOf: listDeletedLibrariesOf,
  listBefore: listDeletedBefore,
  mark: markDeleted,
  markAllOf: markAllDeleted,
  unmark: unmarkDeleted,
  setOwner: setOwnerOfDeleted,
  claimForPurge,
  deleteRow: deleteLibraryRow,
}
