import { type Also, describeChangedPassword, setEncryption } from '../commits/index.ts'
import { checkPassword, dataKeyFrom, type LibraryEncryption, withNewPassword } from '../content/index.ts'
import { fail } from '../errors.ts'
import type { LibraryCore } from './core.ts'
import type { Library, OwnedLibrary } from './library.ts'

/** Holds the key of an encrypted library for who gives its password. False if that is another one. */
export async function openWithPassword(
  core: LibraryCore,
  library: Library,
  encryption: LibraryEncryption,
  password: string,
): Promise<boolean> {
  if (!(await checkPassword(library.info.id, encryption, password))) return false
  const key = await dataKeyFrom(encryption, password)
  if (key === undefined) return false
  core.keys.hold(library, encryption, key)
  return true
}

/**
 * A new password for the same content, as a commit of its own. Every key that is held is forgotten; the owner's, if
 * there was one, is held anew. False if the old password is another one, or became so meanwhile. Throws
 * permission-denied for a read-only library, password-fixed for one whose content depends on its password.
 */
export async function changePassword(
  core: LibraryCore,
  library: OwnedLibrary,
  encryption: LibraryEncryption,
  older: string,
  newer: string,
  also?: Also,
): Promise<boolean> {
  const { id, status } = library.info
  if (status !== 'normal') fail({ code: 'permission-denied' })
  if (encryption.version === 1) fail({ code: 'password-fixed' })
  if (!(await checkPassword(id, encryption, older))) return false
  const changed = await withNewPassword(id, encryption, older, newer)
  if (changed === undefined) return false
  const wasOpen = core.keys.isOpen(library)
  const { result: isDone } = await library.commit(async (_tree, now) => {
    if (now.encryption?.randomKey !== encryption.randomKey) return { description: '', result: false }
    return {
      description: describeChangedPassword,
      result: true,
      always: true,
      library: { encryption: changed },
      also: async (tx) => {
        await setEncryption(tx, now.key, changed)
        await also?.(tx)
      },
    }
  })
  if (!isDone) return false
  core.keys.forgetLibrary(id)
  const key = wasOpen ? await dataKeyFrom(changed, newer) : undefined
  if (key !== undefined) core.keys.hold(library, changed, key)
  return true
}
