import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import type { ApiTokens, WebdavClient } from '../../../people/credentials/index.ts'
import { integer } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import { done, session as sessionSchema, webdavClient } from './accounts.schema.ts'
import { credentialRoute as route } from './services.ts'

const path = '/api/v2.1/sessions/'

type Session = Awaited<ReturnType<ApiTokens['listSessions']>>[number]

/** The sessions of an account. `/api2/devices/` lists those with a device, in the format of existing clients. */
export const sessionRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary:
      'Lists the sessions of the caller, with or without a device, and the programs that used WebDAV in the last 90 days; `is_current` marks the session of the request.',
    compatibility: 'addition',
    callers: 'every account',
    responses: () => ({
      200: json(
        kinds.record('Sessions', {
          sessions: kinds.array(sessionSchema),
          webdav_clients: kinds.array(webdavClient),
        }),
        'The sessions.',
      ),
    }),
    async handle({ user }, { apiTokens, webdavClients }) {
      const [sessions, clients] = await Promise.all([apiTokens.listSessions(user), webdavClients.list(user)])
      return {
        sessions: sessions.map((session) => sessionToWire(session, user.apiTokenKey)),
        webdav_clients: clients.map(clientToWire),
      }
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}:session_id/`,
    auth: 'user',
    summary: 'Signs out one session: revokes its API token, and the tickets and sync tokens issued to it.',
    compatibility: 'addition',
    params: { session_id: integer({ min: 1 }) },
    responses: () => done('The session is ended.'),
    async handle({ user, params, request }, { apiTokens }) {
      const { session_id: id } = params
      if (!(await apiTokens.revokeSession(user, id, auditActor(user, request)))) {
        throw errorMessage(404, `Session ${id} not found.`)
      }
      return { success: true }
    },
  }),
  route({
    method: 'DELETE',
    path,
    auth: 'user',
    summary:
      'Signs out everywhere, including this session: revokes all sessions, personal, library and sync tokens, tickets and the WebDAV password.',
    compatibility: 'addition',
    responses: () => done('All sessions are ended.'),
    async handle({ user, request }, { accounts }) {
      await accounts.signOutEverywhere(user, auditActor(user, request))
      return { success: true }
    },
  }),
]

function sessionToWire(session: Session, currentKey: number | undefined) {
  return {
    id: session.key,
    platform: session.platform,
    device_id: session.deviceId,
    device_name: session.deviceName,
    client_version: session.clientVersion,
    platform_version: session.platformVersion,
    user_agent: session.userAgent,
    last_login_ip: session.loginAddress,
    created_at: isoTime(session.createdAt),
    last_accessed: isoTime(session.lastUsedAt),
    expires_at: session.expiresAt === undefined ? null : isoTime(session.expiresAt),
    wiped_at: session.wipedAt === null ? null : isoTime(session.wipedAt),
    is_current: session.key === currentKey,
  }
}

function clientToWire(client: WebdavClient) {
  return {
    id: client.key,
    credential: client.credential,
    token_id: client.scopedTokenKey ?? null,
    token_name: client.tokenName ?? null,
    user_agent: client.userAgent,
    last_login_ip: client.address,
    created_at: isoTime(client.createdAt),
    last_accessed: isoTime(client.lastUsedAt),
  }
}
