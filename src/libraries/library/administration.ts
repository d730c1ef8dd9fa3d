import { type AuditActor, libraryAction } from '../../people/audit/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { libraryRows } from '../registry/index.ts'
import {
  type LibraryQuery,
  type LibraryTotals,
  type ListedLibrary,
  listAllLibraries,
  totalsOfAll,
} from './administration-store.ts'
import { dbOf, type LibraryCore } from './core.ts'
import type { OwnedLibrary } from './library.ts'

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
