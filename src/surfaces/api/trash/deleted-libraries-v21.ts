import { fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { libraryTrash } from '../../../libraries/library/index.ts'
import { auditActor, personOf } from '../../../people/accounts/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { libraryIdParam } from '../common/readers.ts'
import { deletedLibraryItem } from '../libraries/library-wire.ts'
import { deletedLibrary } from './library-trash.schema.ts'
import { route } from './services.ts'

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
      return (await libraryTrash.listOf(core, user)).map((library) => deletedLibraryItem(library, owner))
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
    async handle({ user, body, request }, { core }) {
      if (!body.repo_id) throw errorMessage(400, 'repo_id can not be empty.')
      const id = parseLibraryId(body.repo_id) ?? fail({ code: 'not-in-trash', id: body.repo_id })
      await libraryTrash.restore(core, user, id, auditActor(user, request))
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
    async handle({ user, request }, { core }) {
      await libraryTrash.purgeAll(core, user.key, auditActor(user, request))
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
    async handle({ user, params, request }, { core }) {
      await libraryTrash.purge(core, user, params.repo_id, auditActor(user, request))
      return { success: true }
    },
  }),
]
