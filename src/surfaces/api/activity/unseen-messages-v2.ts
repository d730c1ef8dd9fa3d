import { json, kinds } from '../../../base/schemas/index.ts'
import { route } from './services.ts'

export const unseenMessageRoutes = [
  route({
    method: 'GET',
    path: '/api2/unseen_messages/',
    auth: 'user',
    summary: 'Returns the number of unread notifications.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({
      200: json(kinds.record('UnseenCount', { count: kinds.count('Of notifications.') }), 'The number.'),
    }),
    async handle({ user }, { activity }) {
      return { count: await activity.notifications.countUnseen(user) }
    },
  }),
]
