import { errorMessage, rawText } from '../../http/index.ts'
import { ROOT } from '../../objects/index.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { asFolder, folderAt } from '../common/resolve-path.ts'
import { route } from '../services.ts'

export const subLibraryRoutes = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/dir/sub_repo/',
    auth: 'user',
    scope: 'none',
    summary: 'Gives the id under which a folder is a library of its own, to sync it.',
    params: { repo_id: libraryIdParam },
    // The name is the folder's, whatever is sent.
    query: { p: requiredPath(), name: rawText(), password: rawText() },
    faults: { 'encrypted-mismatch': () => [400, 'Folder invalid.'] },
    async handle({ user, params, query }, { access, core }) {
      if (!query.name) throw errorMessage(400, 'name invalid.')
      const library = await access.open(user, params.repo_id)
      if (query.p.path === ROOT) throw errorMessage(400, 'p invalid.')
      const { path } = await folderAt(library, query.p, asFolder(query.p))
      return { sub_repo_id: (await core.views.subLibraryAt(library, path)).id }
    },
  }),
]
