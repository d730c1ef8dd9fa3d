import { DomainError } from '../../base/errors.ts'
import { type CommitId, type LibraryId, parseCommitId } from '../../base/objects/index.ts'
import { ROOT } from '../../base/paths/index.ts'
import type { QuotaReservation } from '../../libraries/push/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { optionalText, rawText } from '../../platform/input/index.ts'
import { Refusal } from '../../platform/responses/index.ts'
import { guestOf } from '../../sharing/quotas/index.ts'
import { badRequest, done, libraryParam, parseLibraryIdOrRefuse, readJson } from './readers.ts'
import { route, type SyncServices } from './services.ts'
import { tokenOf } from './sync-access.ts'

const PROTOCOL_VERSION = 2
const CLIENT_ID_LENGTH = 40
const MAX_LIBRARIES_LISTED = 64 * 1024 // bytes

export const headRoutes = [
  route({
    method: 'GET',
    path: '/seafhttp/protocol-version',
    auth: 'none',
    summary: 'Returns the version of the sync protocol.',
    handle: () => ({ version: PROTOCOL_VERSION }),
  }),
  route({
    method: 'GET',
    path: '/seafhttp/repo/:repo_id/permission-check/',
    auth: 'none',
    summary: 'Returns whether a sync client may download or upload, and records its device.',
    params: { repo_id: libraryParam },
    query: {
      op: rawText(),
      client_id: rawText(),
      client_name: optionalText(),
      client_ver: rawText(),
    },
    async handle({ params, query, request }, services) {
      const { op, client_id: id = '', client_name: name = '', client_ver: version = '' } = query
      if (op !== 'download' && op !== 'upload') throw badRequest('op is invalid')
      if (id !== '' && !isClientId(id)) throw badRequest('client_id is invalid')
      if (version !== '' && !/^\d+(?:\.\d+){2}$/.test(version)) throw badRequest('client_ver is invalid')
      const { syncAccess, syncTokens } = services
      await syncAccess.expectLibrary(params.repo_id)
      const library = await syncAccess.open(request, params.repo_id)
      if (op === 'upload') mayUpload(() => library.editable(ROOT))
      if (id !== '' && name !== '') {
        const device = {
          deviceId: id,
          deviceName: name,
          address: request.address,
          clientVersion: version || versionOf(request),
        }
        await syncTokens.recordUse(tokenOf(request), device)
      }
      return done
    },
  }),
  route({
    method: 'GET',
    path: '/seafhttp/repo/:repo_id/commit/HEAD',
    auth: 'none',
    summary: 'Returns the head of a library.',
    params: { repo_id: libraryParam },
    async handle({ params, request }, { push, syncAccess }) {
      await syncAccess.expectLibrary(params.repo_id)
      const library = await syncAccess.open(request, params.repo_id)
      await push.recordHead(library)
      return { is_corrupted: 0, head_commit_id: library.info.head }
    },
  }),
  route({
    method: 'PUT',
    path: '/seafhttp/repo/:repo_id/commit/HEAD',
    auth: 'none',
    summary: 'Moves the head to a pushed commit, merging it if the head has moved.',
    params: { repo_id: libraryParam },
    query: { head: rawText() },
    body: 'raw',
    async handle({ params, query, request }, services) {
      const head = parseCommitId(query.head ?? '')
      if (head === undefined) throw badRequest('head is invalid')
      await moveHead(services, request, params.repo_id, head)
      return done
    },
  }),
  route({
    method: 'POST',
    path: '/seafhttp/repo/head-commits-multi/',
    auth: 'none',
    summary:
      'Returns no heads, because it carries no token: clients then ask for each library with its token.',
    body: 'raw',
    async handle({ body, request }) {
      const sent = await readJson(request, body, MAX_LIBRARIES_LISTED)
      if (!Array.isArray(sent) || sent.length === 0) throw badRequest('Bad JSON in request')
      sent.forEach(parseLibraryIdOrRefuse)
      // The call has no token, and knowing an id grants nothing (I7). Omitted libraries are
      // polled by `commit/HEAD` with their token; subscribers are notified of changes anyway.
      return {}
    },
  }),
]

async function moveHead(
  { push, quotas, syncAccess }: SyncServices,
  request: HttpRequest,
  id: LibraryId,
  head: CommitId,
): Promise<void> {
  const library = await syncAccess.edit(request, id)
  await push.push(library, head, async (bytes) => {
    // Verifying the commit may take long. The permission may have been revoked meanwhile.
    await syncAccess.edit(request, id)
    // An account over its quota may still delete and rename.
    return bytes > 0 ? quotas.reserve(library.info, bytes, { guest: guestOf(library) }) : noReservation
  })
}

const noReservation: QuotaReservation = {
  settle: async () => {},
  [Symbol.asyncDispose]: async () => {},
}

function mayUpload(check: () => unknown): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof DomainError) || error.fault.code !== 'permission-denied') throw error
    throw new Refusal(403, { reason: 'no write permission' })
  }
}

function isClientId(text: string): boolean {
  return text.length === CLIENT_ID_LENGTH && /^[\x21-\x7e]+$/.test(text)
}

/** `8.0.10` of `Seafile/8.0.10 (Linux)`. */
function versionOf({ headers }: HttpRequest): string {
  return /^Seafile\/(\d+(?:\.\d+)*)/.exec(headers['user-agent'] ?? '')?.[1] ?? ''
}
