import { type BlockId, type FileId, parseBlockId, parseFileId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { accepting, type Reader, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { deniedMessage } from '../common/fault-messages.ts'
import { libraryIdParam, sentPathOrRoot } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { route } from './services.ts'

/** An id in the path of a URL. */
const id = { type: 'string', pattern: '^[0-9a-f]{40}$' } as const

const fileIdParam: Reader<FileId> = accepting(
  id,
  (fields, name) => parseFileId(rawText()(fields, name) ?? '') ?? notFound('Not found.'),
)
const blockIdParam: Reader<BlockId> = accepting(
  id,
  (fields, name) => parseBlockId(rawText()(fields, name) ?? '') ?? notFound('Not found.'),
)

export const blockDownloadRoutes = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/files/:file_id/blks/:block_id/download-link/',
    auth: 'user',
    summary: 'Returns a download link of a stored block of a file.',
    compatibility: 'supported',
    params: { repo_id: libraryIdParam, file_id: fileIdParam, block_id: blockIdParam },
    query: { p: sentPathOrRoot },
    faults: deniedMessage('You do not have permission to access this repo.'),
    responses: () => ({
      200: json(kinds.url, 'The URL to download the block.'),
    }),
    async handle({ user, params, query, request }, { access, tickets }) {
      const library = await access.open(user, params.repo_id)
      const { path } = await folderAt(library, query.p)
      const file = await library.content.findShownFile(params.file_id)
      if (file === undefined) return notFound('File not found.')
      if (!file.blockIds.includes(params.block_id)) return notFound('Block not found.')
      const options = {
        operation: 'download-blocks',
        path,
        objectId: params.file_id,
        reusable: true,
      } as const
      const ticket = await tickets.issue(library, options)
      return `${request.baseUrl}/seafhttp/blks/${ticket}/${params.block_id}`
    },
  }),
]

function notFound(message: string): never {
  throw errorMessage(404, message)
}
