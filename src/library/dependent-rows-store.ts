import { deleteBatch, inGroups, type Transaction } from '../database/index.ts'
import type { LibraryDependent } from './dependents.ts'

/** Objects and commits. */
export const objectRows: LibraryDependent = {
  purgeBatch: (tx, libraryKey, limit) =>
    firstOf(limit, [
      (left) => deleteBatch(tx, 'fs_object', 'id', libraryKey, left),
      (left) => deleteBatch(tx, 'commit_object', 'id', libraryKey, left),
    ]),
}

/** Blocks of the library, and blocks and objects that clients sent and no commit names. */
export const contentRows: LibraryDependent = {
  purgeBatch: (tx, libraryKey, limit) =>
    firstOf(limit, [
      (left) => deleteBatch(tx, 'received_object', 'id', libraryKey, left),
      (left) => deleteBatch(tx, 'uncommitted_block', 'block_id', libraryKey, left),
      (left) => deleteBatch(tx, 'library_block', 'block_id', libraryKey, left),
    ]),
}

/** The derived tables of trash and file history. */
export const historyRows: LibraryDependent = {
  purgeBatch: (tx, libraryKey, limit) =>
    firstOf(limit, [
      (left) => deleteBatch(tx, 'trash_item', 'path_key', libraryKey, left),
      (left) => deleteBatch(tx, 'first_seen', 'path_key', libraryKey, left),
      (left) => deleteBatch(tx, 'path_origin', 'path_key', libraryKey, left),
      (left) => deleteBatch(tx, 'file_edit', 'path_key', libraryKey, left),
    ]),
  async onPurged(tx, libraryKey) {
    await tx.run('delete from follower where library_key = ?', libraryKey)
  },
}

/** Views of shared folders. The shares that lead to them are removed first, by `access`. */
export const viewRows: LibraryDependent = {
  onDeleted: deleteViews,
  async onTransferred(tx, { libraryKeys, shares }) {
    if (shares === 'drop') await deleteViews(tx, libraryKeys)
  },
  onPurged: (tx, libraryKey) => deleteViews(tx, [libraryKey]),
}

async function deleteViews(tx: Transaction, libraryKeys: readonly number[]): Promise<void> {
  for (const { some, marks } of inGroups(libraryKeys)) {
    const views = `select key from sub_library where library_key in (${marks})`
    await tx.run(`delete from sub_commit where sub_key in (${views})`, ...some)
    await tx.run(`delete from sub_object where sub_key in (${views})`, ...some)
    await tx.run(`delete from sub_library where library_key in (${marks})`, ...some)
  }
}

/** Locks, stars, smart links and former names. */
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
    await tx.run('delete from library_rename where library_key = ?', libraryKey)
  },
}

/** Locks and stars of a removed account. */
export async function deleteRowsOfAccount(tx: Transaction, accountKey: number): Promise<void> {
  await tx.run('delete from file_lock where account_key = ?', accountKey)
  await tx.run('delete from star where account_key = ?', accountKey)
}

/** Runs deletions in order until `limit` rows are gone. Resolves to the number deleted. */
async function firstOf(
  limit: number,
  deletions: readonly ((left: number) => Promise<number>)[],
): Promise<number> {
  let deleted = 0
  for (const deletion of deletions) {
    if (deleted < limit) deleted += await deletion(limit - deleted)
  }
  return deleted
}
