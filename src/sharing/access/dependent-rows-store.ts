import type { LibraryId } from '../../base/objects/index.ts'
import type { LibraryDependent, LibraryTransfer } from '../../libraries/registry/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import type { AccountDependent, GroupDependent } from '../../people/accounts/index.ts'
import type { ApiTokenDependent } from '../../people/credentials/index.ts'
import { inGroups, type Transaction } from '../../platform/database/index.ts'
import { nameReceived } from './library-names.ts'

/** Shares, links, tickets and WebDAV names of libraries, accounts and groups that are removed. */
export const accessRows: LibraryDependent & AccountDependent & GroupDependent & ApiTokenDependent = {
  async onDeleted(tx, libraryKeys) {
    for (const { some, marks } of inGroups(libraryKeys)) {
      await tx.run(`delete from ticket where library_key in (${marks})`, ...some)
      await tx.run(`delete from share where library_key in (${marks})`, ...some)
      await tx.run(`delete from link where library_key in (${marks})`, ...some)
    }
  },

  async onTransferred(tx, transfer) {
    for (const { some, marks } of inGroups(transfer.libraryKeys)) {
      const group = { ...transfer, libraryKeys: some }
      await transferLinks(tx, group)
      await transferShares(tx, group)
      const received = await tx.all<{ id: LibraryId; name: string }>(
        `select id, name from ${libraryRows.relation} l where key in (${marks})`,
        ...some,
      )
      await nameReceived(tx, transfer.to, received)
    }
  },

  async onPurged(tx, libraryKey) {
    await tx.run('delete from ticket where library_key = ?', libraryKey)
    await tx.run('delete from share where library_key = ?', libraryKey)
    await tx.run('delete from link where library_key = ?', libraryKey)
  },

  async onAccountRemoved(tx, { key }) {
    await tx.run("delete from share where grantee = 'user' and grantee_key = ?", key)
    await tx.run('delete from ticket where account_key = ?', key)
    await tx.run('delete from link where account_key = ?', key)
    await tx.run('delete from webdav_name where account_key = ?', key)
  },

  async onDeviceWiped(tx, apiTokenKeys) {
    for (const { some, marks } of inGroups(apiTokenKeys)) {
      await tx.run(`delete from ticket where api_token_key in (${marks})`, ...some)
    }
  },

  async onMemberRemoved(tx, groupKey, accountKey) {
    const sql = "delete from share where grantee = 'group' and grantee_key = ? and granted_by = ?"
    await tx.run(sql, groupKey, accountKey)
  },

  async onGroupDeleted(tx, groupKey) {
    await tx.run("delete from share where grantee = 'group' and grantee_key = ?", groupKey)
  },
}

/** The links of the old owner become those of the new one and lead to the library itself, not to a view of it. */
async function transferLinks(tx: Transaction, { libraryKeys, from, to }: LibraryTransfer): Promise<void> {
  const marks = libraryKeys.map(() => '?').join(', ')
  const theirs = `library_key in (${marks}) and account_key in (?, ?)`
  const values = [...libraryKeys, from, to]
  await tx.run(`delete from ticket where link_key in (select key from link where ${theirs})`, ...values)
  // Links created with a token end with it, and the new owner has none of the old owner's tokens.
  await tx.run(`delete from link where ${theirs} and scoped_token_key is not null`, ...values)
  await tx.run(
    `update link set account_key = ?, sub_key = null, epoch = epoch + 1 where ${theirs}`,
    to,
    ...values,
  )
}

async function transferShares(
  tx: Transaction,
  { libraryKeys, from, to, shares }: LibraryTransfer,
): Promise<void> {
  const ofThem = `library_key in (${libraryKeys.map(() => '?').join(', ')})`
  if (shares === 'drop') {
    // A share of a folder ends with its view, also one with everyone.
    const dropped = "(grantee <> 'everyone' or sub_key is not null)"
    await tx.run(`delete from share where ${ofThem} and ${dropped}`, ...libraryKeys)
  }
  const toOwner = `delete from share where ${ofThem} and grantee = 'user' and grantee_key = ?`
  await tx.run(toOwner, ...libraryKeys, to)
  if (shares === 'keep') return
  const regrant = `update share set granted_by = ? where ${ofThem} and granted_by = ?`
  await tx.run(regrant, to, ...libraryKeys, from)
}
