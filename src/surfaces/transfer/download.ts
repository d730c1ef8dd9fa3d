import { fail } from '../../base/errors.ts'
import { type FileId, parseBlockId } from '../../base/objects/index.ts'
import { ranged, rangeRequestHeaders } from '../../base/schemas/index.ts'
import { discard, type HttpRequest } from '../../platform/http/index.ts'
import { rawText } from '../../platform/input/index.ts'
import { type Representation, respondWith } from '../../platform/representations/index.ts'
import { type HttpResponse, TextRefusal } from '../../platform/responses/index.ts'
import type { TicketUse } from '../../sharing/access/index.ts'
import { representationOf } from './file-representation.ts'
import { route } from './services.ts'
import { file as fileDescribed, requestHeaders } from './transfer.schema.ts'

/** Headers of all ticket downloads: the URL is the only credential, so any origin may read them. */
const sharedHeaders = { 'Cache-Control': 'max-age=3600', 'Access-Control-Allow-Origin': '*' }

const segment = rawText()

export const fileDownloadRoutes = [
  route({
    method: 'GET',
    path: '/seafhttp/files/:ticket/:name',
    auth: 'none',
    summary: 'Sends the file of a download link, with ranges.',
    params: { ticket: segment, name: segment },
    responses: () => fileDescribed,
    details: () => ({ requestHeaders }),
    async handle({ params, request }, { core, tickets }) {
      const { ticket = '', name = '' } = params
      const use = await tickets.present(ticket)
      if (use.operation !== 'download' && use.operation !== 'view') throw wrongOperation()
      if (name === '' || name.includes('/')) throw invalidUrl()
      if (use.objectId === undefined) throw new TextRefusal(400, 'Invalid file id')
      // Counted for the account that the link was created for.
      const key = await core.keys.keyFor(use.library)
      const file = await use.library.content.open(use.objectId as FileId, key)
      const source = {
        file,
        name,
        etag: use.objectId,
        lastModified: use.modifiedAt,
        wantsInline: use.operation === 'view',
      }
      return start(use, request, representationOf(source, sharedHeaders, request))
    },
  }),
  route({
    method: 'GET',
    path: '/seafhttp/files/:ticket',
    auth: 'none',
    summary: 'Rejects a download link without the file name at its end.',
    params: { ticket: segment },
    responses: () => ({}),
    handle() {
      throw invalidUrl()
    },
  }),
  route({
    method: 'GET',
    path: '/seafhttp/blks/:ticket/:block_id',
    auth: 'none',
    summary: 'Sends the block of a block link, as stored.',
    params: { ticket: segment, block_id: segment },
    responses: () => ranged('application/octet-stream', 'The block'),
    details: () => ({
      requestHeaders: rangeRequestHeaders,
    }),
    async handle({ params, request }, { tickets }) {
      const use = await tickets.present(params.ticket ?? '')
      if (use.operation !== 'download-blocks') throw wrongOperation()
      const id = parseBlockId(params.block_id ?? '')
      if (id === undefined) throw invalidUrl()
      if (use.objectId === undefined) throw new TextRefusal(400, 'Invalid file id')
      const { content } = use.library
      const file = await content.getFile(use.objectId as FileId)
      if (!file.blockIds.includes(id)) throw new TextRefusal(404, 'Block not found')
      const block = await content.openBlock(id)
      return start(use, request, {
        size: block.size,
        etag: id,
        contentType: 'application/octet-stream',
        headers: sharedHeaders,
        read: block.read,
        readAtOnce: block.readAtOnce,
      })
    },
  }),
]

/** A one-time ticket is consumed only after all checks, when the first bytes are available. */
async function start(use: TicketUse, request: HttpRequest, source: Representation): Promise<HttpResponse> {
  const answer = await respondWith(request, source)
  if (await use.consume()) return answer
  await discard(answer)
  return fail({ code: 'ticket-not-found' })
}

function wrongOperation(): TextRefusal {
  return new TextRefusal(403, 'Operation does not match access token.')
}

function invalidUrl(): TextRefusal {
  return new TextRefusal(400, 'Invalid URL')
}
