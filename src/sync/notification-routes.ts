import { route } from './services.ts'

export const notificationRoutes = [
  route({
    method: 'GET',
    path: '/notification/ping',
    auth: 'none',
    summary: 'Says that changes are announced here, over a WebSocket at `/notification`.',
    handle: () => ({ ret: 'pong' }),
  }),
]
