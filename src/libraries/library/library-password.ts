import { fail } from '../../base/errors.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { type AuditActor, libraryAction } from '../../people/audit/index.ts'
import { commitMessages } from '../commits/index.ts'
import { type LibraryEncryption, libraryPasswords } from '../content/index.ts'
import type { SubLibrary } from '../registry/index.ts'
import { libraryRows } from '../registry/index.ts'
import { replacePasswordChecks } from '../views/index.ts'
import { dbOf, type LibraryCore, storesOf } from './core.ts'
import type { Library, OwnedLibrary } from './library.ts'

/**
 * Stores the key of an encrypted library in the keyring for the caller. False if the password is wrong. Clients may send the password
 * with every request, which only extends the hour and is audited once.
 */
export async function openWithPassword(
  core: LibraryCore,
  library: Library,
  encryption: LibraryEncryption,
  password: string,
  by: AuditActor | undefined,
): Promise<boolean> {
  if (!(await libraryPasswords.check(library.info.id, encryption, password))) return false
  const key = await libraryPasswords.dataKeyFrom(encryption, password)
  if (key === undefined) return false
  // Before the key is held: if it cannot be recorded, the library stays locked.
  if (!(await core.keys.isOpen(library))) await recordKey(core, 'library-unlocked', library, by)
  await core.keys.hold(library, encryption, key)
  return true
}

/** Removes the key that the caller gave. Idempotent. */
export async function lockLibrary(
  core: LibraryCore,
  library: Library,
  by: AuditActor | undefined,
): Promise<void> {
  const wasOpen = await core.keys.isOpen(library)
  await core.keys.forget(library)
  if (wasOpen) await recordKey(core, 'library-locked', library, by)
}

/** Keys are in memory, so their entries have transactions of their own. */
async function recordKey(
  core: LibraryCore,
  action: 'library-unlocked' | 'library-locked',
  { info }: Library,
  by: AuditActor | undefined,
): Promise<void> {
  await dbOf(core).write((tx) => core.audit.record(tx, by, libraryAction(action, info)))
}

/**
 * The view of a folder, for syncing it. Outcome as of openWithPassword: undefined if the password is wrong.
 */
export async function viewWithPassword(
  core: LibraryCore,
  library: Library,
  encryption: LibraryEncryption,
  path: LibraryPath,
  password: string,
): Promise<SubLibrary | undefined> {
  if (!(await libraryPasswords.check(library.info.id, encryption, password))) return undefined
  return storesOf(core).views.encryptedSubLibraryAt(library, encryption, path, password)
}

/**
 * Changes the password without changing the content, with a commit of its own. All cached keys are
 * invalidated; the owner's, if present, is cached again. False if the old password is wrong, or was changed
 * meanwhile. Throws permission-denied for a read-only library, password-fixed for one whose content depends
 * on its password.
 */
export async function changePassword(
  core: LibraryCore,
  library: OwnedLibrary,
  encryption: LibraryEncryption,
  older: string,
  newer: string,
  by: AuditActor | undefined,
): Promise<boolean> {
  const { id, status } = library.info
  if (status !== 'normal') fail({ code: 'permission-denied' })
  if (encryption.version === 1) fail({ code: 'password-fixed' })
  if (!(await libraryPasswords.check(id, encryption, older))) return false
  const changed = await libraryPasswords.withNew(id, encryption, older, newer)
  if (changed === undefined) return false
  const views = await storesOf(core).views.passwordChecksOf(library.info.key, changed, newer)
  const wasOpen = await core.keys.isOpen(library)
  const { result: isDone } = await library.commit(async (_tree, now) => {
    if (now.encryption?.randomKey !== encryption.randomKey) return { description: '', result: false }
    return {
      description: commitMessages.changedPassword,
      result: true,
      always: true,
      library: { encryption: changed },
      also: async (tx) => {
        await libraryRows.setEncryption(tx, now.key, changed)
        await replacePasswordChecks(tx, now.key, views.checks)
        await core.audit.record(tx, by, libraryAction('library-password-changed', now))
      },
    }
  })
  if (!isDone) return false
  for (const one of [id, ...views.ids]) await core.keys.forgetLibrary(one)
  const key = wasOpen ? await libraryPasswords.dataKeyFrom(changed, newer) : undefined
  if (key !== undefined) await core.keys.hold(library, changed, key)
  return true
}
