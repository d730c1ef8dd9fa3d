import { fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import { baseName, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { getSmartLink, smartLinkTo } from '../../../libraries/attributes/index.ts'
import { accepting, map, type Reader, rawText, text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { requiredPath } from '../common/readers.ts'
import { fileAt, folderAt } from '../common/resolve-path.ts'
import { route } from './services.ts'

/** Text of the length of a library id. It is looked up later. */
const sentLibraryId = map(rawText(), (sent) => (sent?.length === 36 ? sent : undefined))

const isFolder: Reader<boolean> = accepting({ type: 'boolean', required: true }, (fields, name) => {
  const sent = fields.text(name)?.toLowerCase()
  if (!sent) throw errorMessage(400, `${name} invalid.`)
  if (sent !== 'true' && sent !== 'false') throw errorMessage(400, `${name} can only be 'true' or 'false'.`)
  return sent === 'true'
})

export const smartLinkRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/smart-link/',
    auth: 'user',
    summary: 'Returns the permanent internal link of a file or folder, for accounts that may read it.',
    compatibility: 'supported',
    query: { repo_id: sentLibraryId, path: requiredPath(), is_dir: isFolder },
    responses: () => ({
      200: json(
        kinds.record('SmartLink', {
          smart_link: kinds.url,
          smart_link_token: kinds.text('The token of the link.'),
          name: kinds.name,
        }),
        'A permanent link of the item.',
      ),
    }),
    details: () => ({
      parameters: {
        repo_id: { description: 'The id of the library.' },
        path: { description: 'The path of the item.' },
        is_dir: { description: 'Whether it is a folder.' },
      },
    }),
    async handle({ user, query, request }, { access, core }) {
      const id = parseLibraryId(query.repo_id) ?? fail({ code: 'library-not-found', id: query.repo_id })
      const library = await access.open(user, id)
      const { path } = await (query.is_dir ? folderAt : fileAt)(library, query.path)
      const token = await smartLinkTo(core, library, path, query.is_dir)
      return {
        smart_link: `${request.baseUrl}/smart-link/${token}/`,
        smart_link_token: token,
        name: path === ROOT ? library.info.name : baseName(path),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/smart-links/:token/',
    auth: 'user',
    summary: 'Resolves a permanent internal link to its current target.',
    compatibility: 'supported',
    params: { token: text() },
    responses: () => ({
      200: json(
        kinds.record('SmartLinkTarget', { repo_id: kinds.libraryId, path: kinds.path, is_dir: kinds.flag() }),
        'Where the item is now.',
      ),
    }),
    async handle({ user, params }, { access, core }) {
      const link = await getSmartLink(core, params.token)
      const { library, path } = await access.openAround(user, link.libraryId, link.path)
      return { repo_id: library.info.id, path, is_dir: link.isDir }
    },
  }),
]
