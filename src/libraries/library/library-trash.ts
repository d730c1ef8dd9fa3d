import { setImmediate as nextTurn } from 'node:timers/promises'
import { fail } from '../../base/errors.ts'
import type { LibraryId } from '../../base/objects/index.ts'
import { type AuditActor, libraryAction } from '../../people/audit/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { commitRows } from '../commits/index.ts'
import { daysAgo } from '../history/index.ts'
import { deletedLibraries, type LibraryInfo, libraryHeads } from '../registry/index.ts'
import { listAllLibraries } from './administration-store.ts'
import { dbOf, type LibraryCore } from './core.ts'
import type { Actor, Library } from './library.ts'

const PAGE = 100

function deletedLibrariesOf(core: LibraryCore, owner: Actor): Promise<LibraryInfo[]> {
  return deletedLibraries.listOf(dbOf(core), owner.key)
}

/** A deleted library. Throws not-in-trash. */
async function getDeletedLibrary(core: LibraryCore, id: LibraryId): Promise<LibraryInfo> {
  return (await deletedLibraries.find(dbOf(core), id)) ?? fail({ code: 'not-in-trash', id })
}

async function getDeleted(core: LibraryCore, owner: Actor, id: LibraryId): Promise<LibraryInfo> {
  const library = (await deletedLibraries.find(dbOf(core), id)) ?? fail({ code: 'not-in-trash', id })
  if (library.ownerKey !== owner.key) fail({ code: 'permission-denied' })
  return library
}

/**
 * Throws not-in-trash; permission-denied except for the owner; quota-exceeded if its bytes do not fit any
 * more.
 */
async function restoreLibrary(
  core: LibraryCore,
  owner: Actor,
  id: LibraryId,
  by: AuditActor | undefined,
): Promise<void> {
  const library = await getDeleted(core, owner, id)
  await undeleteLibrary(core, owner, library, by, {
    also: (tx) => core.growth.refuseOverQuota(tx, library),
  })
}

/** Restores a deleted library, for `owner` if its owner was removed. Throws not-in-trash. The caller has checked the permission. */
async function restoreTo(
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

/** Restores a deleted library. Throws not-in-trash. The caller has checked the permission. `also` may refuse it. */
async function undeleteLibrary(
  core: LibraryCore,
  actor: Actor,
  library: LibraryInfo,
  by: AuditActor | undefined,
  { detail, also }: { detail?: Record<string, unknown>; also?: (tx: Transaction) => Promise<void> } = {},
): Promise<void> {
  await dbOf(core).write(async (tx) => {
    if (!(await deletedLibraries.unmark(tx, library.key))) fail({ code: 'not-in-trash', id: library.id })
    await core.events.record(tx, { kind: 'restored', library, actor })
    await also?.(tx)
    await core.audit.record(tx, by, libraryAction('library-restored', library, detail))
  })
}

/**
 * Purges a deleted library with its history. Garbage collection frees blocks no other library holds. Throws
 * as restoreLibrary.
 */
async function purgeLibrary(
  core: LibraryCore,
  owner: Actor,
  id: LibraryId,
  by: AuditActor | undefined,
): Promise<void> {
  await purge(core, await getDeleted(core, owner, id), by)
}

/** Purges every deleted library, or those of one owner, as purgeLibrary. */
async function purgeAllDeleted(
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

/** Maintenance: purges libraries whose restore period has passed. */
async function purgeDeletedBefore(core: LibraryCore, time: number): Promise<void> {
  for (const library of await deletedLibraries.listBefore(dbOf(core), time))
    await purge(core, library, undefined)
}

/** What is done with deleted libraries. */
export const libraryTrash = {
  /** Of an owner. */
  listOf: deletedLibrariesOf,
  get: getDeletedLibrary,
  restore: restoreLibrary,
  restoreTo,
  purge: purgeLibrary,
  /** The caller has checked the permission. */
  purgeOf: purge,
  purgeAll: purgeAllDeleted,
  purgeBefore: purgeDeletedBefore,
}

/**
 * Hides history and trash up to the head (0 days), or everything older than `days`. Never unhides. Audited if something was
 * hidden.
 */
export async function emptyTrash(
  core: LibraryCore,
  { info: library, actor }: Pick<Library, 'info' | 'actor'>,
  days: number,
  by: AuditActor | undefined,
): Promise<void> {
  const seq =
    days <= 0 ? library.headSeq : await commitRows.seqAtTime(dbOf(core), library.key, daysAgo(core, days))
  await dbOf(core).write(async (tx) => {
    const isRaised = await libraryHeads.raiseValidSince(tx, library.key, seq)
    await core.events.record(tx, { kind: 'trash-emptied', library, actor, days })
    if (isRaised) await core.audit.record(tx, by, libraryAction('trash-cleaned', library, { keptDays: days }))
  })
}

const BATCH = 1000

/**
 * Removes a deleted library from the database, in batches that let other writers run in between. If
 * interrupted, the library can only be purged again. A library that was restored meanwhile is not touched.
 */
export async function purge(
  core: LibraryCore,
  library: { readonly key: number; readonly id: string; readonly name: string },
  by: AuditActor | undefined,
): Promise<void> {
  const libraryKey = library.key
  const claimed = await dbOf(core).write(async (tx) => {
    if (!(await deletedLibraries.claimForPurge(tx, libraryKey))) return false
    await core.audit.record(tx, by, libraryAction('library-purged', library))
    return true
  })
  if (!claimed) return
  for (const dependent of core.dependents) {
    const next = async (tx: Transaction) => (await dependent.purgeBatch?.(tx, libraryKey, BATCH)) ?? 0
    if (dependent.purgeBatch === undefined) continue
    while ((await dbOf(core).write(next, { durable: false })) > 0) await nextTurn()
  }
  await dbOf(core).write(async (tx) => {
    for (const dependent of core.dependents) await dependent.onPurged?.(tx, libraryKey)
    await deletedLibraries.deleteRow(tx, libraryKey)
  })
  core.events.purged(libraryKey)
}
