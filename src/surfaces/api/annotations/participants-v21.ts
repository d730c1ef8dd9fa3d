import { json, kinds } from '../../../base/schemas/index.ts'
import { parseEmail } from '../../../people/accounts/index.ts'
import { list, required } from '../../../platform/input/index.ts'
import { userItem } from '../accounts/account-wire.ts'
import { person } from '../accounts/accounts.schema.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { route } from './services.ts'

const MAX_ADDED = 100
const params = { repo_id: libraryIdParam }

export const participantRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/file/participants/',
    auth: 'user',
    scope: 'none',
    summary: 'Lists the users who are notified of comments on a file.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params,
    query: { path: requiredPath() },
    responses: () => ({
      200: json(kinds.record('Participants', { participant_list: kinds.array(person) }), 'The users.'),
    }),
    async handle({ user, params, query, request }, { access, comments }) {
      const library = await access.open(user, params.repo_id)
      const { path } = await fileAt(library, query.path)
      const people = await comments.participants(library, path)
      return { participant_list: people.map((account) => userItem(account, request.baseUrl)) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/file/participants/',
    auth: 'user',
    scope: 'none',
    summary: 'Has users notified of comments on a file, as far as they may read it, and reports the others.',
    compatibility: 'supported',
    params,
    body: { path: requiredPath(), emails: list({ nonEmpty: true }) },
    responses: () => ({
      200: json(
        kinds.record('AddedParticipants', {
          success: kinds.array(person),
          failed: kinds.array(
            kinds.object({
              email: kinds.account,
              error_code: kinds.integer(),
              error_msg: kinds.text('Why it failed.'),
            }),
          ),
        }),
        'The result for each user.',
      ),
    }),
    async handle({ user, params, body, request }, { access, accounts, comments }) {
      const library = await access.open(user, params.repo_id)
      const { path } = await fileAt(library, body.path)
      const sent = body.emails.slice(0, MAX_ADDED)
      const found = await accounts.findMany(sent.flatMap((email) => parseEmail(email) ?? []))
      const file = { user, libraryId: params.repo_id, path }
      const added = await comments.addParticipants(file, [...found.values()])
      const known = new Set(added.map(({ email }) => email))
      // Whether an account exists is not revealed: both cases get the same error.
      const failed = sent.filter((email) => !known.has(parseEmail(email) ?? ''))
      return {
        success: added.map((account) => userItem(account, request.baseUrl)),
        failed: failed.map((email) => ({ email, error_code: 403, error_msg: 'Permission denied.' })),
      }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/repos/:repo_id/file/participant/',
    auth: 'user',
    scope: 'none',
    summary: 'Ends the notifications of a user about comments on a file; for that user and the owner.',
    compatibility: 'supported',
    params,
    body: { path: requiredPath(), email: required() },
    responses: () => ({
      200: json(kinds.successFlag, 'The user is not notified any more.'),
    }),
    async handle({ user, params, body }, { access, accounts, comments }) {
      const library = await access.open(user, params.repo_id)
      const { path } = await fileAt(library, body.path)
      await comments.removeParticipant(library, path, await accounts.get(body.email))
      return { success: true }
    },
  }),
]
