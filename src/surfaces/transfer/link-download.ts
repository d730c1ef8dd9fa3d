import { fail } from '../../base/errors.ts'
import { ROOT } from '../../base/paths/index.ts'
import { type HttpRequest, readVisitorCredentials } from '../../platform/http/index.ts'
import { oneOf, rawText } from '../../platform/input/index.ts'
import { respondWith } from '../../platform/representations/index.ts'
import { TextRefusal } from '../../platform/responses/index.ts'
import { grantName } from '../../sharing/access/index.ts'
import { representationOf } from './file-representation.ts'
import { route } from './services.ts'
import { file as fileDescribed, requestHeaders } from './transfer.schema.ts'

export const linkDownloadRoutes = [
  route({
    method: 'GET',
    path: '/seafhttp/f/:token/',
    auth: 'none',
    summary: 'Sends the file of a share link that allows downloads, with ranges; `op=view` shows it inline.',
    params: { token: rawText() },
    query: { op: oneOf(['download', 'view'], { default: 'download', lenient: true }) },
    responses: () => fileDescribed,
    details: () => ({
      requestHeaders: { ...requestHeaders, 'X-Link-Password': 'The password of the link, if it has one.' },
      query: { password: 'As `X-Link-Password`, for clients that cannot set headers.' },
      parameters: { op: { description: '`view` shows it in the browser, if its type is harmless.' } },
    }),
    async handle({ params: { token = '' }, query, request }, { links }) {
      const open = await links.open(token, readVisitorCredentials(request, grantName(token)), 'share')
      if (open.link.isDir) throw new TextRefusal(400, 'Link is not of a file.')
      const isView = query.op === 'view'
      const { content } = open.originals
      const found = (await open.findFile(ROOT)) ?? fail({ code: 'link-not-found', token })
      const { id, name } = found.entry
      const file = await content.open(id)
      // No Last-Modified: a file can be replaced by an older one.
      const source = { file, name, etag: id, wantsInline: isView }
      const isSecret = open.link.password !== undefined || open.link.scope !== 'all_users'
      const headers = { 'Cache-Control': `${isSecret ? 'private' : 'public'}, no-cache` }
      const answer = await respondWith(request, representationOf(source, headers, request))
      if (isFirstLook(request)) await links.countView(open)
      return answer
    },
  }),
]

/** A download in ranges counts as one view. */
function isFirstLook({ method, headers }: HttpRequest): boolean {
  return method === 'GET' && (headers.range === undefined || headers.range.startsWith('bytes=0-'))
}
