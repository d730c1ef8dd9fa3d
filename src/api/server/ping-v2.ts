import { jsonTextResponse } from '../../http/index.ts'
import { route } from '../services.ts'

export const pingRoutes = [
  route({
    method: 'GET',
    path: '/api2/ping/',
    auth: 'none',
    limit: 'ping',
    summary: 'Checks that the server responds.',
    handle: () => jsonTextResponse('"pong"'),
  }),
  route({
    method: 'GET',
    path: '/api2/auth/ping/',
    auth: 'user',
    scope: 'any',
    summary: 'Checks that the API token is valid.',
    handle: () => jsonTextResponse('"pong"'),
  }),
]
