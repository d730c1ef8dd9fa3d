import { randomUUID } from 'node:crypto'
import { parentOf } from '../../base/paths/index.ts'
import { emptyContent } from '../../libraries/content/index.ts'
import { putFile } from '../../libraries/edits/index.ts'
import { type EditableLibrary, fileLocks, lockTokens } from '../../libraries/library/index.ts'
import { type Account, auditActor } from '../../people/accounts/index.ts'
import { type HttpRequest, type RequestBody, readBody } from '../../platform/http/index.ts'
import type { HttpResponse } from '../../platform/responses/index.ts'
import { addressOf } from './address.ts'
import { MAX_OWNER, ShownLocks } from './live-properties.ts'
import { Preconditions } from './preconditions.ts'
import {
  changeable,
  existing,
  findResource,
  type LibraryResource,
  refuseClosed,
  refuseInvalidPlace,
} from './resource.ts'
import { davError, emptyResponse, xmlResponse } from './responses.ts'
import type { WebdavServices } from './services.ts'
import { child, parseXml, serialize, type XmlElement } from './xml-reader.ts'

const MAX_BODY = 16 * 1024
/** Seconds. As long as a lock of the web app. Clients refresh theirs. */
const LONGEST = 12 * 3600
const DEFAULT = 3600

/** LOCK: takes a lock, or renews one. A lock of nothing creates an empty file (RFC 4918, 7.3). */
export async function lockItem(
  services: WebdavServices,
  user: Account,
  request: HttpRequest,
  body: RequestBody,
): Promise<HttpResponse> {
  const resource = changeable(await findResource(services, user, addressOf(request)))
  await refuseClosed(services, resource.library)
  const bytes = await readBody(body, MAX_BODY, request.bodyClaim)
  const editable = resource.library.editable(parentOf(resource.path))
  const conditions = new Preconditions(services, request, user)
  if (bytes.length === 0) return renew(services, request, { resource, editable, conditions })
  const wanted = readLock(bytes)
  const isDeep = readDepth(request) === 'infinity' && resource.kind === 'folder'
  await conditions.check(resource)
  if (resource.kind === 'missing') {
    await refuseInvalidPlace(resource)
    await conditions.refuseLocked(resource, [[resource.path, 'creates']])
    const accepts = (current: unknown) => current === undefined
    const outcome = await putFile(services.core, editable, resource.path, emptyContent, { accepts })
    if (outcome === 'no-parent') throw davError(409, 'The parent folder does not exist.')
  }
  const token = `urn:uuid:${randomUUID()}`
  const fresh = await services.access.open(user, resource.library.info.id)
  const lockable = fresh.editable(parentOf(resource.path))
  const seconds = readTimeout(request)
  await lockTokens.take(services.core, lockable, resource.path, { ...wanted, token, isDeep, seconds })
  const status = resource.kind === 'missing' ? 201 : 200
  return xmlResponse(status, await lockXml(services, { ...resource, library: lockable }), {
    'Lock-Token': `<${token}>`,
  })
}

/** UNLOCK. */
export async function unlockItem(
  services: WebdavServices,
  user: Account,
  request: HttpRequest,
): Promise<HttpResponse> {
  const resource = existing(changeable(await findResource(services, user, addressOf(request))))
  const [, token] = /^\s*<([^<>\s]+)>\s*$/.exec(request.header('lock-token') ?? '') ?? []
  if (token === undefined) throw davError(400, 'The Lock-Token header is missing or not valid.')
  const editable = resource.library.editable(parentOf(resource.path))
  const breaker = services.access.mayBreakLocks(user, resource.library)
    ? auditActor(user, request)
    : undefined
  if (await lockTokens.drop(services.core, editable, resource.path, token, breaker)) return emptyResponse(204)
  throw davError(409, 'The item has no lock with this token.', {
    condition: 'lock-token-matches-request-uri',
  })
}

async function renew(
  services: WebdavServices,
  request: HttpRequest,
  parts: { resource: LibraryResource; editable: EditableLibrary; conditions: Preconditions },
): Promise<HttpResponse> {
  const { resource, editable, conditions } = parts
  if (conditions.tokens.length === 0) throw davError(400, 'The lock to be renewed is not named.')
  await conditions.check(resource)
  for (const token of conditions.tokens) {
    const lock = await lockTokens.refresh(services.core, editable, resource.path, token, readTimeout(request))
    if (lock !== undefined) return xmlResponse(200, await lockXml(services, resource))
  }
  throw davError(412, 'The item has no lock with this token.', {
    condition: 'lock-token-matches-request-uri',
  })
}

async function lockXml(
  services: WebdavServices,
  { address, library, path }: LibraryResource,
): Promise<string> {
  const locks = await ShownLocks.of(services, address, await fileLocks.list(services.core, library.info))
  const discovery = locks.xmlAt(path)
  return `<?xml version="1.0" encoding="utf-8"?>\n<d:prop xmlns:d="DAV:"><d:lockdiscovery>${discovery}</d:lockdiscovery></d:prop>`
}

function readLock(bytes: Buffer): { scope: 'exclusive' | 'shared'; owner: string } {
  const root = parseXml(bytes)
  const scope = child(root, 'lockscope')
  const type = child(root, 'locktype')
  if (scope === undefined || type === undefined || child(type, 'write') === undefined) {
    throw davError(400, 'The lock is not described.')
  }
  const isShared = child(scope, 'shared') !== undefined
  if (!isShared && child(scope, 'exclusive') === undefined) throw davError(400, 'The lock is not described.')
  return { scope: isShared ? 'shared' : 'exclusive', owner: ownerOf(child(root, 'owner')) }
}

function ownerOf(element: XmlElement | undefined): string {
  const xml = element === undefined ? '' : serialize(element)
  return xml.length > MAX_OWNER ? '' : xml
}

function readDepth(request: HttpRequest): string {
  const depth = request.header('depth')?.trim().toLowerCase() ?? 'infinity'
  if (depth !== '0' && depth !== 'infinity') throw davError(400, 'The Depth header is not valid.')
  return depth
}

/** The first acceptable value of `Timeout: Second-600, Infinite`, in seconds. */
function readTimeout(request: HttpRequest): number {
  for (const one of (request.header('timeout') ?? '').split(',')) {
    const [, seconds] = /^\s*second-(\d{1,10})\s*$/i.exec(one) ?? []
    if (seconds !== undefined) return Math.min(Math.max(Number(seconds), 1), LONGEST)
    if (/^\s*infinite\s*$/i.test(one)) return LONGEST
  }
  return DEFAULT
}
