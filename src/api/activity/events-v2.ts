import { integer } from '../../http/index.ts'
import { route } from '../services.ts'
import { activitiesToWire } from './activity-wire.ts'

const DEFAULT_LIMIT = 15
const MAX_LIMIT = 100

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/api2/events/',
    auth: 'user',
    summary: 'Lists the activities in the libraries the caller can open, for older clients.',
    query: {
      start: integer({ min: 0, default: 0, lenient: true }),
      limit: integer({ min: 1, default: DEFAULT_LIMIT, lenient: true }),
    },
    async handle({ user, query, request }, { activity, directory }) {
      const limit = Math.min(query.limit, MAX_LIMIT)
      const range = { author: undefined, skip: query.start, limit: limit + 1 }
      const items = await activity.feed.list(user, range)
      return {
        events: await activitiesToWire(items.slice(0, limit), directory, request.baseUrl),
        more: items.length > limit,
        more_offset: query.start + limit,
      }
    },
  }),
]
