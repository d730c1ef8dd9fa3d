import { rawText, text } from '../../http/index.ts'
import { avatarSize } from '../accounts/account-input.ts'
import { readPage } from '../common/paging.ts'
import { route } from '../services.ts'
import { activitiesToWire } from './activity-wire.ts'

export const activityRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/activities/',
    auth: 'user',
    summary: 'Lists the activities in the libraries the caller can open, newest first.',
    query: { page: rawText(), per_page: rawText(), op_user: text(), avatar_size: avatarSize },
    async handle({ user, query, request }, { activity, directory }) {
      const { page, perPage } = readPage(query, 25, { lenient: true })
      const author = query.op_user.trim().toLowerCase() || undefined
      const items = await activity.feed.list(user, { author, skip: (page - 1) * perPage, limit: perPage })
      return { events: await activitiesToWire(items, directory, request.baseUrl, query.avatar_size) }
    },
  }),
]
