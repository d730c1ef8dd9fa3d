import { parsePath, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { deniedMessage } from '../common/fault-messages.ts'
import { libraryIdParam } from '../common/readers.ts'
import { folderAt, updateTargetAt } from '../common/resolve-path.ts'
import { lenientFlag } from '../folders/listing-readers.ts'
import { refuseIfFull } from './quota-check.ts'
import { route, type TransferServices } from './services.ts'
import { folder, from as fromDescribed } from './transfers.schema.ts'

const faults = deniedMessage('You do not have permission to access this folder.')

export const uploadLinkRoutesV2 = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/upload-link/',
    auth: 'user',
    scope: 'upload',
    summary: 'Returns an upload link of a folder.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { p: '/' } },
    params: { repo_id: libraryIdParam },
    query: { p: rawText(), from: rawText(), replace: lenientFlag },
    faults,
    responses: () => ({ 200: json(kinds.url, 'The URL to upload files to.') }),
    details: () => ({
      errors: [443],
      parameters: {
        p: folder,
        from: fromDescribed,
        replace: { description: 'Uploads replace files of the same name.' },
      },
    }),
    async handle({ user, params, query, request }, services) {
      const library = await services.access.open(user, params.repo_id)
      const ticket = await issue(services, library, 'upload', query)
      if (query.from === 'web') return `${request.baseUrl}/seafhttp/upload-aj/${ticket}`
      return `${request.baseUrl}/seafhttp/upload-api/${ticket}${query.replace ? '?replace=1' : ''}`
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/update-link/',
    auth: 'user',
    scope: 'write',
    summary: 'Returns a link to replace the content of files.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { p: '/' } },
    params: { repo_id: libraryIdParam },
    query: { p: rawText(), from: rawText() },
    faults,
    responses: () => ({ 200: json(kinds.url, 'The URL to send new content to.') }),
    details: () => ({
      errors: [443],
      parameters: { p: { description: 'A folder, or the file to replace.' }, from: fromDescribed },
    }),
    async handle({ user, params, query, request }, services) {
      const library = await services.access.open(user, params.repo_id)
      const ticket = await issue(services, library, 'update', query)
      return `${request.baseUrl}/seafhttp/update-${query.from === 'web' ? 'aj' : 'api'}/${ticket}`
    },
  }),
]

/**
 * An upload ticket is bound to its folder. An update ticket is bound to a file: the named one, or the first one in
 * the folder that it is used for.
 */
async function issue(
  services: TransferServices,
  library: Library,
  operation: 'upload' | 'update',
  { p = ROOT, from }: { p: string | undefined; from: string | undefined },
): Promise<string> {
  if (p === '') throw errorMessage(400, 'p invalid.')
  const sent = { text: p, path: parsePath(p) }
  const place = operation === 'update' ? await updateTargetAt(library, sent) : await folderAt(library, sent)
  library.editable(place.path)
  await refuseIfFull(services, library)
  if (from !== undefined && from !== 'api' && from !== 'web') throw errorMessage(400, 'from invalid.')
  const target = 'target' in place ? place.target : undefined
  return services.tickets.issue(library, { operation, path: place.path, target, reusable: true })
}
