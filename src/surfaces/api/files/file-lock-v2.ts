import { parentOf } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { fileLocks } from '../../../libraries/library/index.ts'
import { integer, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { libraryIdParam, sentPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { route } from './services.ts'

/** The longest lock that expires: about 300 years. */
const MAX_LOCK_SECONDS = 10_000_000_000

/** `expire`: seconds, 0 for the server's default, negative for never. */
export const lockSeconds = integer({ default: 0, max: MAX_LOCK_SECONDS, message: 'expire invalid.' })

export const fileLockRoutes = [
  route({
    method: 'PUT',
    path: '/api2/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Locks or unlocks a file.',
    compatibility: { result: 'different', note: 'Locks are always available.' },
    callers: 'writers',
    sample: { form: { operation: 'lock', p: '/in.txt' } },
    params: { repo_id: libraryIdParam },
    body: { p: sentPath, operation: rawText(), expire: lockSeconds },
    faults: {
      ...olderLibraryNotFound,
      'path-not-found': () => [400, 'Path is missing or invalid.'],
    },
    responses: () => ({ 200: json(kinds.successWord, 'The file was locked or unlocked.') }),
    details: () => ({
      parameters: {
        p: { required: true },
        operation: { required: true, description: '`lock` or `unlock`.' },
        expire: {
          description: 'Seconds until the lock ends; 0 for the default of the server, negative for never.',
        },
      },
    }),
    async handle({ user, params, body }, { access, core }) {
      const library = await access.open(user, params.repo_id)
      if (body.p === undefined) throw errorMessage(400, 'Path is missing or invalid.')
      const { path } = await fileAt(library, body.p)
      const editable = library.editable(parentOf(path))
      const operation = body.operation?.toLowerCase()
      if (operation === 'lock') await fileLocks.lock(core, editable, path, body.expire)
      else if (operation === 'unlock') await fileLocks.unlock(core, editable, path, undefined)
      else throw errorMessage(400, 'Operation can only be lock or unlock')
      return 'success'
    },
  }),
]
