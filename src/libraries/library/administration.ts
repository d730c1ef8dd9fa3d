import { type AuditActor, libraryAction } from '../../people/audit/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { deletedLibraries, libraryRows } from '../registry/index.ts'
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

/** A read-only library cannot be changed, not even by its owner. */
export async function changeStatus(
  core: LibraryCore,
  library: OwnedLibrary,
  status: LibraryInfo['status'],
  by: AuditActor | undefined,
): Promise<void> {
  await dbOf(core).write(async (tx) => {
    if (!(await libraryRows.setStatus(tx, library.info.key, status))) return
    await core.audit.record(tx, by, libraryAction('library-changed', library.info, { status }))
  })
}

/** Sets the history limit in days. Any negative number means unlimited. Returns the limit. */
export async function setKeepDays(
  core: LibraryCore,
  { info }: OwnedLibrary,
  days: number,
  by: AuditActor | undefined,
): Promise<number> {
  const limit = Math.max(-1, days)
  await dbOf(core).write(async (tx) => {
    if (!(await libraryRows.setHistoryDays(tx, info.key, limit))) return
    await core.audit.record(tx, by, libraryAction('history-limit-changed', info, { days }))
  })
  return limit
}

/** Restores a deleted library, for `owner` if its owner was removed. Throws not-in-trash. The caller has checked the permission. */
export async function restoreTo(
  core: LibraryCore,
  actor: Actor,
  library: LibraryInfo,
  owner: Actor | undefined,
  by: AuditActor | undefined,
): Promise<void> {
  const restored = owner === undefined ? library : { ...library, ownerKey: owner.key }
  await undeleteLibrary(core, actor, restored, by, {
    ...(owner && {
      detail: { to: owner.email },
      also: (tx: Transaction) => deletedLibraries.setOwner(tx, library.key, owner.key),
    }),
  })
}

/** Purges every deleted library, or those of one owner, as purgeLibrary. */
export async function purgeAllDeleted(
  core: LibraryCore,
  ownerKey: number | undefined,
  by: AuditActor | undefined,
): Promise<void> {
  const query = { deleted: true, orderBy: 'deleted', ownerKey, offset: 0, limit: PAGE } as const
  for (;;) {
    const found = await listAllLibraries(dbOf(core), query)
    for (const library of found) await purge(core, library, by)
    if (found.length < PAGE) return
  }
}
