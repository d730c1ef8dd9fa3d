import { route } from './services.ts'

export const notificationRoutes = [
  route({
    method: 'GET',
    path: '/notification/ping',
    auth: 'none',
    summary: 'Reports that change notifications are available over a WebSocket at `/notification`.',
    handle: () => ({ ret: 'pong' }),
  }),
]
