import { fail } from '../../base/errors.ts'
import { ranged, rangeRequestHeaders } from '../../base/schemas/index.ts'
import { rawText } from '../../platform/input/index.ts'
import { respondWith } from '../../platform/representations/index.ts'
import { TextRefusal } from '../../platform/responses/index.ts'
import { disposition } from './file-representation.ts'
import { route } from './services.ts'
import { fileName } from './transfer.schema.ts'

export const archiveDownloadRoutes = [
  route({
    method: 'GET',
    path: '/seafhttp/zip/:ticket',
    auth: 'none',
    summary: 'Sends a finished archive, with ranges, any number of times while its token is valid.',
    params: { ticket: rawText() },
    responses: () => ranged('application/zip', 'The archive', fileName),
    details: () => ({
      requestHeaders: rangeRequestHeaders,
    }),
    async handle({ params: { ticket = '' }, request }, { archives, tickets }) {
      const use = await tickets.present(ticket)
      if (use.operation !== 'archive') throw new TextRefusal(403, 'Operation does not match access token.')
      const task = (await archives.find(ticket)) ?? fail({ code: 'ticket-not-found' })
      const archive = task.finished
      if (archive === undefined) throw new TextRefusal(400, 'Zip task is not finished')
      if (request.method === 'GET') await task.noteFetched()
      return respondWith(request, {
        size: archive.size,
        contentType: 'application/zip',
        etag: archive.etag,
        lastModified: archive.finishedAt,
        headers: {
          'Content-Disposition': disposition('attachment', archive.name),
          'Cache-Control': 'private, no-cache',
          'Access-Control-Allow-Origin': '*',
        },
        read: archive.read,
      })
    },
  }),
  route({
    method: 'GET',
    path: '/seafhttp/zip/',
    auth: 'none',
    summary: 'Rejects an archive link without its token.',
    responses: () => ({}),
    handle() {
      throw new TextRefusal(400, 'Invalid URL')
    },
  }),
]
