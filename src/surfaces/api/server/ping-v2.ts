import { json, kinds } from '../../../base/schemas/index.ts'
import { jsonTextResponse } from '../../../platform/responses/index.ts'
import { route } from './services.ts'

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
