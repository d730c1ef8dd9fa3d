import { accountRequester } from '../../../base/scheduling/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { libraryAt, pointInTime } from '../common/point-in-time.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { moment } from './files.schema.ts'
import { route } from './services.ts'

export const fileTextRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/file/text/',
    auth: 'user',
    summary: 'Returns the text of a document, without its layout; as of `commit_id` or `at` if given.',
    compatibility: 'addition',
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params: { repo_id: libraryIdParam },
    query: { p: requiredPath(), ...pointInTime },
    responses: () => ({
      200: json(
        kinds.record('FileText', {
          id: kinds.objectId,
          name: kinds.name,
          text: kinds.text('The text of the document.'),
          truncated: kinds.flag('Whether the document has more text.'),
        }),
        'The text.',
      ),
    }),
    details: () => ({ errors: [422], parameters: moment }),
    async handle({ user, params, query, request }, services) {
      const library = await libraryAt(await services.access.open(user, params.repo_id), query)
      const { entry } = await fileAt(library, query.p)
      const requester = { key: accountRequester(user.key), signal: request.signal }
      const { text, truncated } = await services.documentTexts.get(library, entry, requester)
      return { id: entry.id, name: entry.name, text, truncated }
    },
  }),
]
