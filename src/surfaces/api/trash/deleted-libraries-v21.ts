import { fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import {
  deletedLibrariesOf,
  purgeDeletedOf,
  purgeLibrary,
  restoreLibrary,
} from '../../../libraries/library/index.ts'
import { personOf } from '../../../people/accounts/index.ts'
import { errorMessage, rawText } from '../../../platform/http/index.ts'
import { type AuditedAction, auditAction, libraryAction } from '../common/audit.ts'
import { libraryIdParam } from '../common/readers.ts'
import { deletedLibraryItem } from '../libraries/library-wire.ts'
import { route } from '../services.ts'
import { deletedLibrary } from './library-trash.schema.ts'

const path = '/api/v2.1/deleted-repos/'

export const deletedLibraryRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Lists the libraries the caller deleted, newest first.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({ 200: json(kinds.array(deletedLibrary), 'The libraries.') }),
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
    compatibility: 'supported',
    body: { repo_id: rawText() },
    responses: () => ({ 200: json(kinds.successFlag, 'The library was restored.') }),
    details: () => ({ errors: [443] }),
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
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({
      200: json(kinds.successFlag, 'The libraries were purged.'),
    }),
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
    compatibility: 'supported',
    params: { repo_id: libraryIdParam },
    faults: { 'not-in-trash': () => [404, 'Library does not exist in trash.'] },
    responses: () => ({
      200: json(kinds.successFlag, 'The library was purged.'),
    }),
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
