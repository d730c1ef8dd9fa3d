import { inGroups, type Transaction } from '../../platform/database/index.ts'
import { type LibraryDependent, type PathBinding, tableBinding } from '../registry/index.ts'

/** Deletes the views of shared folders. `access` deletes their shares and links first. */
export const viewRows: LibraryDependent = {
  onDeleted: deleteViews,
  async onTransferred(tx, { libraryKeys, shares }) {
    if (shares === 'drop') await deleteViews(tx, libraryKeys)
  },
  onPurged: (tx, libraryKey) => deleteViews(tx, [libraryKey]),
}

/** A view follows its folder through moves and is deleted with it. */
export const viewBinding: PathBinding = tableBinding('sub_library', { rows: 'shares', endsWithItem: true })

async function deleteViews(tx: Transaction, libraryKeys: readonly number[]): Promise<void> {
  for (const { some, marks } of inGroups(libraryKeys)) {
    const views = `select key from sub_library where library_key in (${marks})`
    await tx.run(`delete from sub_commit where sub_key in (${views})`, ...some)
    await tx.run(`delete from sub_object where sub_key in (${views})`, ...some)
    await tx.run(`delete from sub_library where library_key in (${marks})`, ...some)
  }
}
