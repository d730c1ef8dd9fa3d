import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AuditActor, libraryAction } from '../../people/audit/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { deletedLibraries } from '../registry/index.ts'
import { dbOf, type LibraryCore } from './core.ts'

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
