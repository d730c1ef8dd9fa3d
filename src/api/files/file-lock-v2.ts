import { errorMessage, rawText } from '../../http/index.ts'
import { lockFile, unlock } from '../../library/index.ts'
import { parentOf } from '../../objects/index.ts'
import { libraryIdParam, sentPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { route } from '../services.ts'
import { lockSeconds } from './lock-duration-reader.ts'

export const fileLockRoutes = [
  route({
    method: 'PUT',
    path: '/api2/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Locks or unlocks a file.',
    params: { repo_id: libraryIdParam },
    body: { p: sentPath, operation: rawText(), expire: lockSeconds },
    faults: {
      ...olderLibraryNotFound,
      'path-not-found': () => [400, 'Path is missing or invalid.'],
    },
    async handle({ user, params, body }, { access, core }) {
      const library = await access.open(user, params.repo_id)
      if (body.p === undefined) throw errorMessage(400, 'Path is missing or invalid.')
      const { path } = await fileAt(library, body.p)
      const editable = library.editable(parentOf(path))
      const operation = body.operation?.toLowerCase()
      if (operation === 'lock') await lockFile(core, editable, path, body.expire)
      else if (operation === 'unlock') await unlock(core, editable, path, { mayBreak: false })
      else throw errorMessage(400, 'Operation can only be lock or unlock')
      return 'success'
    },
  }),
]
