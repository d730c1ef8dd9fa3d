import type { Config } from '../../base/config/index.ts'
import { parseLibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { inOrigin, type LibraryInfo, libraryRows, originOf } from '../../libraries/registry/index.ts'
import { findWithOrigin } from '../../libraries/views/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { type Explanation, explain } from '../../sharing/access/index.ts'
import { openAccounts } from './accounts.ts'
import { CommandError } from './command-error.ts'

/** Explains a permission from the database alone, without a server. Throws account-not-found, CommandError. */
export async function explainOffline(
  config: Config,
  email: string,
  library: string,
  path: LibraryPath,
): Promise<Explanation> {
  await using opened = await openAccounts(config)
  const account = await opened.accounts.get(email)
  const info = await findAnyLibrary(opened.db, library)
  if (info === undefined) {
    throw new CommandError(`There is no library ${library}: give the id that its address shows.`)
  }
  const now = Math.floor(Date.now() / 1000)
  // Awaited here, while the database is open.
  return await explain(opened.db, originOf(info), account, inOrigin(info, path), now)
}

/** A library or sub-library. Only the origin and path of a sub-library are needed, not its content. */
async function findAnyLibrary(db: Database, text: string): Promise<LibraryInfo | undefined> {
  const id = parseLibraryId(text)
  const info = id && (await libraryRows.find(db, id))
  if (id === undefined || info !== undefined) return info
  const [found] = await findWithOrigin(db, 'id', [id])
  return found && { ...found.origin, id, sub: { ...found.sub, origin: found.origin } }
}
