import { inGroups, type Transaction } from '../../platform/database/index.ts'
import { type LibraryDependent, type PathBinding, tableBinding } from '../registry/index.ts'
import { propertyBinding } from './property-store.ts'

/** Locks, stars, smart links and WebDAV properties of a library. */
export const libraryRows: LibraryDependent = {
  async onDeleted(tx, libraryKeys) {
    for (const { some, marks } of inGroups(libraryKeys)) {
      await tx.run(`delete from file_lock where library_key in (${marks})`, ...some)
    }
  },
  async onPurged(tx, libraryKey) {
    await tx.run('delete from file_lock where library_key = ?', libraryKey)
    await tx.run('delete from star where library_key = ?', libraryKey)
    await tx.run('delete from smart_link where library_key = ?', libraryKey)
    await tx.run('delete from webdav_property where library_key = ?', libraryKey)
    await tx.run('delete from webdav_property_usage where library_key = ?', libraryKey)
  },
}

/** Locks, stars, smart links and WebDAV properties follow the item at their path. */
export const libraryBindings: readonly PathBinding[] = [
  tableBinding('file_lock', { rows: 'locks', endsWithItem: true }),
  tableBinding('star', { rows: 'stars', endsWithItem: false }),
  tableBinding('smart_link', { rows: 'internal links', endsWithItem: false }),
  propertyBinding,
]

/** Locks and stars of a removed account. */
export async function deleteRowsOfAccount(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from file_lock where account_key = ?', accountKey)
  await tx.run('delete from star where account_key = ?', accountKey)
}
