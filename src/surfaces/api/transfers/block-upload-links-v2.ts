import { type BlockId, MAX_IDS, parseBlockId } from '../../../base/objects/index.ts'
import { parsePath, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { optionalText, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { deniedMessage } from '../common/fault-messages.ts'
import { libraryIdParam } from '../common/readers.ts'
import { folderAt, updateTargetAt } from '../common/resolve-path.ts'
import { refuseIfFull } from './quota-check.ts'
import { route, type TransferServices } from './services.ts'
import { folder } from './transfers.schema.ts'

const faults = deniedMessage('You do not have permission to access this folder.')

/** Enough for the longest list of ids, even with encoded commas. */
const MAX_LIST = 512 * 1024

export const blockLinkRoutes = [
  route({
    method: 'POST',
    path: '/api2/repos/:repo_id/upload-blks-link/',
    auth: 'user',
    summary: 'Returns links to upload a file as blocks into a folder, and the ids of the missing blocks.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { p: '/' }, form: { blklist: '' } },
    params: { repo_id: libraryIdParam },
    query: { p: rawText() },
    body: { blklist: optionalText() },
    bodyLimit: MAX_LIST,
    faults,
    responses: () => ({
      200: json(
        kinds.record('BlockUpload', {
          rawblksurl: kinds.url,
          commiturl: kinds.url,
          blklist: kinds.array(kinds.objectId, { description: 'The blocks that the server lacks.' }),
        }),
        'The URLs for the blocks and for the file.',
      ),
    }),
    details: () => ({
      errors: [443],
      parameters: { p: folder, blklist: { description: 'The ids of the blocks, separated by commas.' } },
    }),
    async handle({ user, params, query, body, request }, services) {
      const library = await services.access.open(user, params.repo_id)
      const ticket = await issue(services, library, 'upload-blocks', query.p)
      const missing = await services.push.missingBlocks(library, readBlockList(body.blklist))
      const root = `${request.baseUrl}/seafhttp`
      return {
        rawblksurl: `${root}/upload-raw-blks-api/${ticket}`,
        commiturl: `${root}/upload-blks-api/${ticket}?commitonly=true&ret-json=true`,
        blklist: missing,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/upload-blks-link/',
    auth: 'user',
    scope: 'write',
    summary: 'Returns a link to create files from blocks, for older clients.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { p: '/' } },
    params: { repo_id: libraryIdParam },
    query: { p: rawText() },
    faults,
    responses: () => ({ 200: json(kinds.url, 'The URL to create files from blocks.') }),
    details: () => ({ errors: [443], parameters: { p: folder } }),
    async handle({ user, params, query, request }, services) {
      const library = await services.access.open(user, params.repo_id)
      const ticket = await issue(services, library, 'upload-blocks', query.p)
      return `${request.baseUrl}/seafhttp/upload-blks-api/${ticket}`
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/update-blks-link/',
    auth: 'user',
    scope: 'write',
    summary: 'Returns a link to replace the content of files with blocks.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { p: '/' } },
    params: { repo_id: libraryIdParam },
    query: { p: rawText() },
    faults,
    responses: () => ({ 200: json(kinds.url, 'The URL to replace files with blocks.') }),
    details: () => ({
      errors: [443],
      parameters: { p: { description: 'A folder, or the file to replace.' } },
    }),
    async handle({ user, params, query, request }, services) {
      const library = await services.access.open(user, params.repo_id)
      const ticket = await issue(services, library, 'update-blocks', query.p)
      return `${request.baseUrl}/seafhttp/update-blks-api/${ticket}`
    },
  }),
]

/** As for uploads of files: an upload ticket is bound to its folder, an update ticket to one file. */
async function issue(
  services: TransferServices,
  library: Library,
  operation: 'upload-blocks' | 'update-blocks',
  p = ROOT as string,
): Promise<string> {
  if (p === '') throw errorMessage(400, 'p invalid.')
  const sent = { text: p, path: parsePath(p) }
  const isUpdate = operation === 'update-blocks'
  const place = isUpdate ? await updateTargetAt(library, sent) : await folderAt(library, sent)
  library.editable(place.path)
  await refuseIfFull(services, library)
  const target = 'target' in place ? place.target : undefined
  return services.tickets.issue(library, { operation, path: place.path, target, reusable: true })
}

function readBlockList(text = ''): BlockId[] {
  const sent = text.split(',').map((id) => id.trim())
  const ids = sent.filter((id) => id !== '').map(parseBlockId)
  if (ids.length > MAX_IDS) throw errorMessage(400, 'blklist invalid.')
  if (!ids.every((id) => id !== undefined)) throw errorMessage(400, 'blklist invalid.')
  return ids
}
