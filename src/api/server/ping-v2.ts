import { jsonTextResponse } from '../../http/index.ts'
import { route } from '../services.ts'

export const pingRoutes = [
  route({
    method: 'GET',
    path: '/api2/ping/',
    auth: 'none',
    limit: 'ping',
    summary: 'Whether the server answers.',
    handle: () => jsonTextResponse('"pong"'),
  }),
  route({
    method: 'GET',
    path: '/api2/auth/ping/',
    auth: 'user',
    scope: 'any',
    summary: 'Whether the API token is good.',
    handle: () => jsonTextResponse('"pong"'),
  }),
]
