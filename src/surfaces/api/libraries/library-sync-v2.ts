import { fail } from '../../../base/errors.ts'
import { type LibraryId, parseLibraryId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { deniedMessage } from '../common/fault-messages.ts'
import { libraryIdParam } from '../common/readers.ts'
import { syncInfo as syncInfoSchema } from './libraries.schema.ts'
import { NO_ACCESS, syncInfo } from './library-wire.ts'
import { route } from './services.ts'

export const librarySyncRoutes = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/download-info/',
    auth: 'user',
    // Sync tokens have no scope, so scoped tokens cannot create them.
    scope: 'none',
    summary:
      'Returns the data that a sync client needs to start syncing a library, including a new sync token.',
    compatibility: 'supported',
    callers: 'readers',
    params: { repo_id: libraryIdParam },
    faults: deniedMessage(NO_ACCESS),
    responses: () => ({ 200: json(syncInfoSchema, 'The library.') }),
    async handle({ user, params }, { access, syncTokens, now }) {
      const { info, permission } = await access.open(user, params.repo_id)
      // A shared file is no folder that a client could keep equal to one of its own.
      if (info.sub?.isFile) fail({ code: 'permission-denied' })
      const syncToken = await syncTokens.issue(info, user)
      return syncInfo(info, { email: user.email, permission, syncToken, now: now() })
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repo-tokens/',
    auth: 'user',
    summary: 'Issues a new sync token for each of several libraries.',
    compatibility: 'supported',
    query: { repos: rawText() },
    responses: () => ({
      200: json(
        kinds.mapOf(
          kinds.text('A sync token.'),
          'By id of the library. Those that the caller cannot open are left out.',
        ),
        'The sync tokens.',
      ),
    }),
    details: () => ({
      parameters: { repos: { required: true, description: 'The ids of libraries, separated by commas.' } },
    }),
    async handle({ user, query }, { access, syncTokens }) {
      if (!query.repos) throw errorMessage(400, 'You must specify libaries ids')
      const opened = [...(await access.openAll(user, parseIds(query.repos))).values()]
      const libraries = opened.map(({ info }) => info).filter(({ sub }) => !sub?.isFile)
      const tokens = await syncTokens.issueMany(libraries, user)
      return Object.fromEntries(libraries.map(({ id }, index) => [id, tokens[index]]))
    },
  }),
]

function parseIds(text: string): LibraryId[] {
  const ids = text.split(',').map(parseLibraryId)
  if (!ids.every((id) => id !== undefined)) throw errorMessage(400, 'Libraries ids are invalid')
  return [...new Set(ids)]
}
