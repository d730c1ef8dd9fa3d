import { starsOf } from '../../../libraries/attributes/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import type { StarServices } from './services.ts'
import type { Starred } from './star-wire.ts'

/** The starred entries that an account may still read, newest first. */
export async function listStarred({ access, core }: StarServices, user: Account): Promise<Starred[]> {
  const stars = await starsOf(core, user)
  const libraries = await access.openAll(user, [...new Set(stars.map((star) => star.libraryId))])
  const starred: Starred[] = []
  for (const { libraryId, path, isDir } of stars) {
    const library = libraries.get(libraryId)
    if (library === undefined) continue
    const found = await library.tree.find(path)
    // The path may now be an entry of another kind.
    const entry = found && (found.kind === 'dir') === isDir ? found : undefined
    starred.push({ library, path, isDir, entry })
  }
  return starred
}
