import { parentOf, ROOT } from '../../base/paths/index.ts'
import { copyTo, makeFolderAt, moveTo, type PlaceOutcome, removeOne } from '../../libraries/edits/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import type { HttpRequest, RequestBody } from '../../platform/http/index.ts'
import type { HttpResponse } from '../../platform/responses/index.ts'
import { addressOf, destinationOf } from './address.ts'
import { Preconditions } from './preconditions.ts'
import {
  existing,
  findResource,
  type LibraryResource,
  refuseClosed,
  refuseInvalidPlace,
  writable,
} from './resource.ts'
import { davError, emptyResponse } from './responses.ts'
import type { WebdavServices } from './services.ts'

/** MKCOL: creates a folder. Libraries are created in the web app. */
export async function makeCollection(
  services: WebdavServices,
  user: Account,
  request: HttpRequest,
  body: RequestBody,
): Promise<HttpResponse> {
  // RFC 4918, 9.3: no body is defined.
  if (body.length !== 0) throw davError(415, 'A folder is created without a body.')
  const address = addressOf(request)
  const resource = writable(await findResource(services, user, address))
  const { kind, path, editable } = resource
  if (kind !== 'missing') throw davError(405, 'The name is taken.')
  await refuseInvalidPlace(resource)
  const conditions = new Preconditions(services, request, user)
  await conditions.check(resource)
  await conditions.refuseLocked(resource, [[path, 'creates']])
  const outcome = await makeFolderAt(editable, path)
  if (outcome === 'exists') throw davError(405, 'The name is taken.')
  return outcomeResponse(outcome)
}

/** DELETE: moves an item to the trash of its library. */
export async function removeItem(
  services: WebdavServices,
  user: Account,
  request: HttpRequest,
): Promise<HttpResponse> {
  const resource = writable(await findResource(services, user, addressOf(request)))
  existing(resource)
  const { path, editable } = resource
  const conditions = new Preconditions(services, request, user)
  await conditions.check(resource)
  await conditions.refuseLocked(resource, [[path, 'removes']])
  const { result } = await removeOne(services.core, editable, path)
  if (result.length === 0) throw davError(404, 'There is no such item.')
  return emptyResponse(204)
}

/** COPY and MOVE: one commit, whose cost does not depend on the size of the item. */
export async function relocate(
  services: WebdavServices,
  user: Account,
  request: HttpRequest,
  operation: 'copy' | 'move',
): Promise<HttpResponse> {
  const replaces = request.header('overwrite')?.trim().toUpperCase() !== 'F'
  const isShallow = readDepth(request, operation) === '0'
  const address = destinationOf(request)
  const found = await findResource(services, user, addressOf(request))
  const source = operation === 'move' ? existing(writable(found)) : readable(found)
  const target = writable(await findResource(services, user, address))
  await refuseClosed(services, target.library)
  await refuseInvalidPlace(target)
  const conditions = new Preconditions(services, request, user)
  await conditions.check(source)
  if (operation === 'move') await conditions.refuseLocked(source, [[source.path, 'removes']])
  const effect = target.kind === 'missing' ? 'creates' : 'removes'
  await conditions.refuseLocked(target, [[target.path, effect]])
  const { core, quotas } = services
  const roomLeft = (library: Parameters<typeof quotas.roomLeft>[0]) => quotas.roomLeft(library)
  const isPast = source.address.snapshot !== undefined
  const options = { replaces, isShallow, isPast, roomLeft }
  const to = [target.editable, target.path] as const
  const outcome =
    operation === 'copy'
      ? await copyTo(core, source.library, source.path, ...to, options)
      : await moveTo(core, source.library.editable(parentOf(source.path)), source.path, ...to, options)
  return outcomeResponse(outcome)
}

/** The source of a copy, which may be in the past. Throws a refusal. */
function readable(found: Awaited<ReturnType<typeof findResource>>): LibraryResource {
  if (found.kind === 'root' || found.path === ROOT) {
    throw davError(403, 'A library cannot be copied this way.')
  }
  return existing(found)
}

function readDepth(request: HttpRequest, operation: 'copy' | 'move'): string {
  const depth = request.header('depth')?.trim().toLowerCase() ?? 'infinity'
  const isValid = depth === 'infinity' || (depth === '0' && operation === 'copy')
  if (!isValid) throw davError(400, 'The Depth header is not valid.')
  return depth
}

function outcomeResponse(outcome: PlaceOutcome): HttpResponse {
  switch (outcome) {
    case 'created':
      return emptyResponse(201)
    case 'replaced':
      return emptyResponse(204)
    case 'exists':
      throw davError(412, 'An item is there already.')
    case 'no-parent':
      throw davError(409, 'The parent folder does not exist.')
  }
}
