import { json, kinds } from '../../../base/schemas/index.ts'
import { jsonTextResponse } from '../../../platform/responses/index.ts'
import { route } from './services.ts'

// Three integers. Clients select the calls they make by this version.
const compatibleVersion = '11.0.13'

/**
 * What clients decide by; they hide what is not announced. All of it is always available, and other features of the API have no function here.
 * `seafile-pro` makes desktop clients request locks, folder permissions and activities, and desktop and phone clients search if there is
 * `file-search`. With `client-sso-via-local-browser` they sign in through a browser. The last one is ours: clients sign in by a code.
 */
const features = [
  'seafile-basic',
  'seafile-pro',
  'file-search',
  'client-sso-via-local-browser',
  'device-authorization',
]

export const serverInfoRoutes = [
  route({
    method: 'GET',
    path: '/api2/server-info/',
    auth: 'none',
    summary: 'Returns the API version and the features of the server.',
    compatibility: 'supported',
    callers: 'anyone',
    responses: () => ({
      200: json(
        kinds.record('ServerInfo', {
          version: kinds.text('The version of the API, by which clients select their calls.'),
          encrypted_library_version: kinds.integer('The encryption version of new libraries.'),
          features: kinds.array(kinds.text(), { description: 'Names of features.' }),
        }),
        'The server.',
      ),
    }),
    handle: () => ({
      version: compatibleVersion,
      encrypted_library_version: 2,
      features,
    }),
  }),
]

export const pingRoutes = [
  route({
    method: 'GET',
    path: '/api2/ping/',
    auth: 'none',
    limit: 'ping',
    summary: 'Checks that the server responds.',
    compatibility: 'supported',
    callers: 'anyone',
    responses: () => ({ 200: json(kinds.literal('pong'), 'The server responds.') }),
    handle: () => jsonTextResponse('"pong"'),
  }),
  route({
    method: 'GET',
    path: '/api2/auth/ping/',
    auth: 'user',
    scope: 'any',
    summary: 'Checks that the API token is valid.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({ 200: json(kinds.literal('pong'), 'The token is valid.') }),
    handle: () => jsonTextResponse('"pong"'),
  }),
]
