import { json, kinds } from '../../../base/schemas/index.ts'
import { rawText, text } from '../../../platform/input/index.ts'
import { avatarSize } from '../accounts/account-input.ts'
import { readPage } from '../common/paging.ts'
import { activities } from './activity.schema.ts'
import { activitiesToWire } from './activity-wire.ts'
import { route } from './services.ts'

export const activityRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/activities/',
    auth: 'user',
    summary: 'Lists the activities in the libraries the caller can open, newest first.',
    compatibility: { result: 'different', note: 'Rows are never merged.' },
    callers: 'every account',
    query: { page: rawText(), per_page: rawText(), op_user: text(), avatar_size: avatarSize },
    responses: () => ({
      200: json(kinds.record('Activities', { events: activities }), 'A page of activities, newest first.'),
    }),
    details: () => ({
      parameters: {
        page: { description: 'Counted from 1.' },
        per_page: { description: 'Default: 25, at most 1000.' },
        op_user: { description: 'Only activities of this account.' },
      },
    }),
    async handle({ user, query, request }, { activity, directory }) {
      const { page, perPage } = readPage(query, 25, { lenient: true })
      const author = query.op_user.trim().toLowerCase() || undefined
      const items = await activity.feed.list(user, { author, skip: (page - 1) * perPage, limit: perPage })
      return { events: await activitiesToWire(items, directory, request.baseUrl, query.avatar_size) }
    },
  }),
]
