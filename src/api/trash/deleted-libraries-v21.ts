import { fail } from '../../errors.ts'
import { errorMessage, rawText } from '../../http/index.ts'
import { personOf } from '../../identity/index.ts'
import { deletedLibrariesOf, purgeDeletedOf, purgeLibrary, restoreLibrary } from '../../library/index.ts'
import { parseLibraryId } from '../../objects/index.ts'
import { type AuditedAction, auditAction, libraryAction } from '../common/audit.ts'
import { libraryIdParam } from '../common/readers.ts'
import { deletedLibraryItem } from '../libraries/library-wire.ts'
import { route } from '../services.ts'

const path = '/api/v2.1/deleted-repos/'

export const deletedLibraryRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Lists the libraries the caller deleted, newest first.',
    async handle({ user }, { core }) {
      const owner = personOf(user)
      return (await deletedLibrariesOf(core, user)).map((library) => deletedLibraryItem(library, owner))
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    summary: 'Restores a deleted library.',
    body: { repo_id: rawText() },
    async handle({ user, body, request }, { audit, core }) {
      if (!body.repo_id) throw errorMessage(400, 'repo_id can not be empty.')
      const id = parseLibraryId(body.repo_id) ?? fail({ code: 'not-in-trash', id: body.repo_id })
      const action: AuditedAction = { action: 'library-restored', objectKind: 'library', objectId: id }
      await restoreLibrary(core, user, id, auditAction({ audit }, { user, request }, action))
      return { success: true }
    },
  }),
  route({
    method: 'DELETE',
    path,
    auth: 'user',
    summary: 'Purges all deleted libraries of the caller permanently.',
    async handle({ user, request }, { audit, core }) {
      await purgeDeletedOf(core, user, (tx, library) =>
        auditAction({ audit }, { user, request }, libraryAction('library-purged', library))(tx),
      )
      return { success: true }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/deleted-repos/:repo_id/',
    auth: 'user',
    summary: 'Purges a deleted library permanently.',
    params: { repo_id: libraryIdParam },
    faults: { 'not-in-trash': () => [404, 'Library does not exist in trash.'] },
    async handle({ user, params, request }, { audit, core }) {
      const action: AuditedAction = {
        action: 'library-purged',
        objectKind: 'library',
        objectId: params.repo_id,
      }
      await purgeLibrary(core, user, params.repo_id, auditAction({ audit }, { user, request }, action))
      return { success: true }
    },
  }),
]
