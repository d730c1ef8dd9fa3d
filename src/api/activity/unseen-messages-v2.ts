import { route } from '../services.ts'

export const unseenMessageRoutes = [
  route({
    method: 'GET',
    path: '/api2/unseen_messages/',
    auth: 'user',
    summary: 'Returns the number of unread notifications.',
    async handle({ user }, { activity }) {
      return { count: await activity.notifications.countUnseen(user) }
    },
  }),
]
