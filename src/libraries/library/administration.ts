import {
  type LibraryInfo,
  type LibraryStatus,
  setLibraryStatus,
  setOwnerOfDeleted,
  type TransactionHook,
} from '../commits/index.ts'
import {
  type LibraryQuery,
  type LibraryTotals,
  type ListedLibrary,
  listAllLibraries,
  totalsOfAll,
} from './administration-store.ts'
import { dbOf, type LibraryCore } from './core.ts'
import { undeleteLibrary } from './libraries.ts'
import type { Actor, OwnedLibrary } from './library.ts'
import { purge } from './purge.ts'

const PAGE = 100

/** A page of all libraries, and whether there is another. */
export async function listLibraryPage(
  core: LibraryCore,
  query: Omit<LibraryQuery, 'offset' | 'limit'>,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ libraries: ListedLibrary[]; more: boolean }> {
  const offset = (page - 1) * perPage
  const found = await listAllLibraries(dbOf(core), { ...query, offset, limit: perPage + 1 })
  return { libraries: found.slice(0, perPage), more: found.length > perPage }
}

export function libraryTotals(core: LibraryCore): Promise<LibraryTotals> {
  return totalsOfAll(dbOf(core))
}

/** A read-only library cannot be changed, not even by its owner. `also` is called if the status differs. */
export async function changeStatus(
  core: LibraryCore,
  library: OwnedLibrary,
  status: LibraryStatus,
  also?: TransactionHook,
): Promise<void> {
  await dbOf(core).write(async (tx) => {
    if (await setLibraryStatus(tx, library.info.key, status)) await also?.(tx)
  })
}

/** Restores a deleted library for a new owner, because its owner was removed. Throws not-in-trash. */
export async function restoreTo(
  core: LibraryCore,
  library: LibraryInfo,
  owner: Actor,
  also?: TransactionHook,
): Promise<void> {
  await undeleteLibrary(core, owner, { ...library, ownerKey: owner.key }, async (tx) => {
    await setOwnerOfDeleted(tx, library.key, owner.key)
    await also?.(tx)
  })
}

/** Purges every deleted library, or those of one owner. `also` is written for each. */
export async function purgeAllDeleted(
  core: LibraryCore,
  ownerKey: number | undefined,
  also: (library: ListedLibrary) => TransactionHook,
): Promise<void> {
  const query = { deleted: true, orderBy: 'deleted', ownerKey, offset: 0, limit: PAGE } as const
  for (;;) {
    const found = await listAllLibraries(dbOf(core), query)
    for (const library of found) await purge(core, library.key, also(library))
    if (found.length < PAGE) return
  }
}
