import type { LibraryDependent } from '../../libraries/registry/index.ts'
import type { AccountDependent } from '../../people/accounts/index.ts'

/** Comments and tags of libraries and accounts that are removed. */
export const annotationRows: LibraryDependent & AccountDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from annotated_file where library_key = ?', libraryKey)
    await tx.run('delete from library_tag where library_key = ?', libraryKey)
  },

  async onAccountRemoved(tx, { key }) {
    await tx.run('update file_comment set author_key = null where author_key = ?', key)
    await tx.run('delete from file_participant where account_key = ?', key)
  },
}
