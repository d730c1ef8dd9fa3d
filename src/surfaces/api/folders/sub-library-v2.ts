import { ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { throttled } from '../../../platform/http/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { parseText } from '../common/parse-values.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { folderAt, folderPathText } from '../common/resolve-path.ts'
import { route } from './services.ts'

export const subLibraryRoutes = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/dir/sub_repo/',
    auth: 'user',
    scope: 'none',
    summary: 'Returns the id of the sub-library (view) of a folder, for syncing.',
    compatibility: {
      result: 'different',
      note: "The view is named after the folder. A folder of an encrypted library needs `password`. A change of the library's password applies to the view.",
    },
    callers: 'readers',
    sample: { query: { p: '/docs', name: 'docs' } },
    params: { repo_id: libraryIdParam },
    // The view is named after the folder. The name in the request is ignored.
    query: { p: requiredPath(), name: rawText(), password: rawText() },
    responses: () => ({
      200: json(kinds.record('SubLibrary', { sub_repo_id: kinds.libraryId }), 'The folder as a library.'),
    }),
    details: () => ({
      parameters: {
        name: { required: true, description: 'Ignored: the library has the name of the folder.' },
      },
    }),
    async handle({ user, params, query, request }, { access, libraryPasswords }) {
      if (!query.name) throw errorMessage(400, 'name invalid.')
      const library = await access.open(user, params.repo_id)
      if (query.p.path === ROOT) throw errorMessage(400, 'p invalid.')
      const { path } = await folderAt(library, query.p, folderPathText(query.p))
      const { encryption } = library.info
      if (encryption === undefined) return { sub_repo_id: (await library.subLibraryAt(path)).id }
      const password = parseText(query.password ?? '')
      if (!password) throw errorMessage(400, 'password invalid.')
      const opening = { library, encryption, by: auditActor(user, request) }
      const view = await libraryPasswords.viewAt(opening, path, password)
      if (view === 'wrong') throw errorMessage(400, 'Wrong password')
      if ('retryAfterSeconds' in view) throw throttled(view.retryAfterSeconds)
      return { sub_repo_id: view.id }
    },
  }),
]
