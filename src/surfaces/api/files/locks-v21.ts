import { json, kinds } from '../../../base/schemas/index.ts'
import { fileLocks } from '../../../libraries/library/index.ts'
import { auditActor, personOf, unknownPerson } from '../../../people/accounts/index.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { itemLock } from './files.schema.ts'
import { route } from './services.ts'

/** The locks of a library, for those who may end locks of others. Folders have some, too, which no listing shows. */
export const lockRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/locks/',
    auth: 'user',
    scope: 'none',
    summary: 'Lists the locks of files and folders, for owners and administrators.',
    compatibility: 'addition',
    params: { repo_id: libraryIdParam },
    responses: () => ({
      200: json(kinds.object({ lock_list: kinds.array(itemLock) }), 'The locks in effect.'),
    }),
    async handle({ user, params }, { access, accounts, core }) {
      const library = await access.openForLocks(user, params.repo_id)
      const locks = []
      for (const lock of await fileLocks.list(core, library.info)) {
        const account = await accounts.findByKey(lock.accountKey)
        const { email, name } = account === undefined ? unknownPerson('') : personOf(account)
        locks.push({
          path: lock.path,
          with_content: lock.webdav?.isDeep === true,
          lock_owner: email,
          lock_owner_name: name,
          lock_time: lock.lockedAt,
          expires_at: lock.expiresAt,
        })
      }
      return { lock_list: locks }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/repos/:repo_id/locks/',
    auth: 'user',
    scope: 'none',
    summary: 'Ends the lock of a file or folder, whoever has it, for owners and administrators. Idempotent.',
    compatibility: 'addition',
    params: { repo_id: libraryIdParam },
    query: { p: requiredPath() },
    responses: () => ({
      200: json(kinds.successFlag, 'The item has no lock.'),
    }),
    async handle({ user, params, query, request }, { access, core }) {
      const library = await access.openForLocks(user, params.repo_id)
      const { path } = query.p
      if (path === undefined || (await fileLocks.at(core, library, path)) === undefined)
        return { success: true }
      await fileLocks.unlock(core, library, path, auditActor(user, request))
      return { success: true }
    },
  }),
]
