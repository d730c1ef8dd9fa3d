import type { Transaction } from '../../platform/database/index.ts'
import { type PathBinding, tableBinding } from '../registry/index.ts'
import { propertyBinding } from './property-store.ts'

/** Stars, smart links and WebDAV properties of libraries and accounts that are deleted. */
export const attributeRows = {
  async onPurged(tx: Transaction, libraryKey: number): Promise<void> {
    await tx.run('delete from star where library_key = ?', libraryKey)
    await tx.run('delete from smart_link where library_key = ?', libraryKey)
    await tx.run('delete from webdav_property where library_key = ?', libraryKey)
    await tx.run('delete from webdav_property_usage where library_key = ?', libraryKey)
  },
  async deleteOfAccount(tx: Transaction, accountKey: number): Promise<void> {
    await tx.run('delete from star where account_key = ?', accountKey)
  },
}

/** Stars, smart links and WebDAV properties follow the item at their path. */
export const attributeBindings: readonly PathBinding[] = [
  tableBinding('star', { rows: 'stars', endsWithItem: false }),
  tableBinding('smart_link', { rows: 'internal links', endsWithItem: false }),
  propertyBinding,
]
