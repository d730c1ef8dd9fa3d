import { json, kinds } from '../../../base/schemas/index.ts'
import { integer } from '../../../platform/input/index.ts'
import { activities } from './activity.schema.ts'
import { activitiesToWire } from './activity-wire.ts'
import { route } from './services.ts'

const DEFAULT_LIMIT = 15
const MAX_LIMIT = 100

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/api2/events/',
    auth: 'user',
    summary: 'Lists the activities in the libraries the caller can open, for older clients.',
    compatibility: 'supported',
    callers: 'every account',
    query: {
      start: integer({ min: 0, default: 0, lenient: true }),
      limit: integer({ min: 1, default: DEFAULT_LIMIT, lenient: true }),
    },
    responses: () => ({
      200: json(
        kinds.record('OlderActivities', {
          events: activities,
          more: kinds.flag('Whether there are older ones.'),
          more_offset: kinds.count('The `start` of the next page.'),
        }),
        'Activities, newest first.',
      ),
    }),
    details: () => ({
      parameters: {
        start: { description: 'The number of activities to skip.' },
        limit: { description: 'The number of activities to list, at most 100.' },
      },
    }),
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
