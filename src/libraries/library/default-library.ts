import { accountRows } from '../../people/accounts/index.ts'
import type { AuditActor } from '../../people/audit/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { libraryRows } from '../registry/index.ts'
import { dbOf, type LibraryCore } from './core.ts'
import { createLibraryIn } from './libraries.ts'
import type { Actor } from './library.ts'

const NAME = 'My Library'

/** The account's default library, unless it was deleted or transferred. */
export async function findDefaultLibrary(core: LibraryCore, owner: Actor): Promise<LibraryInfo | undefined> {
  return usable(dbOf(core), owner, await accountRows.findDefaultLibraryKey(dbOf(core), owner.key))
}

/** The account's default library, created if there is none. Concurrent calls create only one. */
export async function ensureDefaultLibrary(
  core: LibraryCore,
  owner: Actor,
  by: AuditActor | undefined,
): Promise<LibraryInfo> {
  return (await findDefaultLibrary(core, owner)) ?? (await makeDefaultLibrary(core, owner, by))
}

async function makeDefaultLibrary(
  core: LibraryCore,
  owner: Actor,
  by: AuditActor | undefined,
): Promise<LibraryInfo> {
  try {
    return await dbOf(core).write(async (tx) => {
      const before = await accountRows.findDefaultLibraryKey(tx, owner.key)
      const existing = await usable(tx, owner, before)
      if (existing !== undefined) return existing
      const created = await createLibraryIn(tx, core, owner, { name: NAME, description: NAME }, by)
      // Rolls back the transaction if a concurrent call was first.
      if (!(await accountRows.setDefaultLibraryKey(tx, owner.key, created.key, before)))
        throw new CreatedConcurrently()
      return created
    })
  } catch (error) {
    const existing = error instanceof CreatedConcurrently ? await findDefaultLibrary(core, owner) : undefined
    if (existing === undefined) throw error
    return existing
  }
}

class CreatedConcurrently extends Error {}

async function usable(reader: Reader, owner: Actor, key: number | null): Promise<LibraryInfo | undefined> {
  const library = key === null ? undefined : await libraryRows.findByKey(reader, key)
  return library?.ownerKey === owner.key ? library : undefined
}
