import type { FileId } from '../../base/objects/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { respondWith, servedAs } from '../../platform/representations/index.ts'
import { type HttpResponse, textResponse } from '../../platform/responses/index.ts'
import { addressOf } from './address.ts'
import { existing, findResource } from './resource.ts'
import { emptyResponse } from './responses.ts'
import type { WebdavServices } from './services.ts'

const ALLOW = 'OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK'

/** OPTIONS: what is supported. Some clients ask before they sign in. */
export function describeService(): HttpResponse {
  return emptyResponse(200, { Allow: ALLOW, DAV: '1, 2', 'MS-Author-Via': 'DAV', 'Accept-Ranges': 'bytes' })
}

/** GET and HEAD of a file, with ranges and conditions. A folder is a line of text, for people who open it in a browser. */
export async function readFile(
  services: WebdavServices,
  user: Account,
  request: HttpRequest,
): Promise<HttpResponse> {
  const resource = await findResource(services, user, addressOf(request))
  if (resource.kind === 'root') return folderText()
  const { kind, library, entry } = existing(resource)
  if (kind === 'folder' || entry === undefined) return folderText()
  const { core } = services
  const key = await core.keys.keyFor(library)
  const file = await library.content.open(entry.id as FileId, key)
  const { contentType, policy } = servedAs(entry.name, false)
  return respondWith(request, {
    etag: entry.id,
    lastModified: entry.mtime,
    size: file.size,
    contentType,
    headers: { 'Cache-Control': 'private, no-cache', 'Content-Security-Policy': policy },
    read: file.read,
    readAtOnce: file.readAtOnce,
  })
}

function folderText(): HttpResponse {
  return textResponse(
    200,
    'This is a WebDAV folder. Open its address in a file manager or another WebDAV client.\n',
  )
}
