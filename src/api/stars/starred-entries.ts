import type { Account } from '../../identity/index.ts'
import { starsOf } from '../../library/index.ts'
import type { ApiServices } from '../services.ts'
import type { Starred } from './star-wire.ts'

/** What an account starred and may still read, newest first. */
export async function starredBy({ access, core }: ApiServices, user: Account): Promise<Starred[]> {
  const stars = await starsOf(core, user)
  const libraries = await access.openAll(user, [...new Set(stars.map((star) => star.libraryId))])
  const starred: Starred[] = []
  for (const { libraryId, path, isDir } of stars) {
    const library = libraries.get(libraryId)
    if (library === undefined) continue
    const found = await library.tree.find(path)
    // Another kind of thing may have taken the place of what was starred.
    const entry = found && (found.kind === 'dir') === isDir ? found : undefined
    starred.push({ library, path, isDir, entry })
  }
  return starred
}
