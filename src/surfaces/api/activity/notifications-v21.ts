import { json, kinds } from '../../../base/schemas/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import type { HttpRequest } from '../../../platform/http/index.ts'
import { integer, rawText } from '../../../platform/input/index.ts'
import { readPage } from '../common/paging.ts'
import { done, notifications } from './activity.schema.ts'
import { notificationsToWire } from './activity-wire.ts'
import { type ActivityServices, route } from './services.ts'

const path = '/api/v2.1/notifications/'
const all = '/api/v2.1/all-notifications/'
const paging = { page: rawText(), per_page: rawText() }

export const notificationRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: "Lists the caller's notifications, newest first.",
    compatibility: 'supported',
    callers: 'every account',
    query: paging,
    responses: () => ({
      200: json(kinds.record('Notifications', notifications), 'The notifications, newest first.'),
    }),
    handle: listFor,
  }),
  markingAllSeen(path),
  route({
    method: 'DELETE',
    path,
    auth: 'user',
    summary: 'Removes all notifications of the caller.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => done('All were removed.'),
    async handle({ user }, { activity }) {
      await activity.notifications.deleteAll(user.key)
      return { success: true }
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v2.1/notification/',
    auth: 'user',
    summary: 'Marks one notification as seen.',
    compatibility: 'supported',
    body: { notice_id: integer({ min: 1 }) },
    responses: () => done('It is seen.'),
    async handle({ user, body }, { activity }) {
      await activity.notifications.markSeen(user.key, body.notice_id)
      return { success: true }
    },
  }),
  route({
    method: 'GET',
    path: all,
    auth: 'user',
    summary: "Lists the caller's notifications under `general`; discussions have none.",
    compatibility: { result: 'different', note: 'Everything is under `general`.' },
    callers: 'every account',
    query: paging,
    responses: () => ({
      200: json(
        kinds.record('AllNotifications', {
          general: kinds.object(notifications),
          discussion: kinds.object(notifications),
        }),
        'The notifications, newest first.',
      ),
    }),
    async handle({ user, query, request }, services) {
      return {
        general: await listFor({ user, query, request }, services),
        discussion: { notification_list: [], unseen_count: 0, count: 0 },
      }
    },
  }),
  markingAllSeen(all),
]

function markingAllSeen(of: typeof path | typeof all) {
  return route({
    method: 'PUT',
    path: of,
    auth: 'user',
    summary: 'Marks all notifications of the caller as seen.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => done('All are seen.'),
    async handle({ user }, { activity }) {
      await activity.notifications.markAllSeen(user.key)
      return { success: true }
    },
  })
}

async function listFor(
  { user, query, request }: { user: Account; query: Parameters<typeof readPage>[0]; request: HttpRequest },
  { activity, directory }: ActivityServices,
) {
  const { page, perPage } = readPage(query, 25, { lenient: true })
  const found = await activity.notifications.list(user, { skip: (page - 1) * perPage, limit: perPage })
  return {
    notification_list: await notificationsToWire(found.notifications, directory, request.baseUrl),
    unseen_count: found.unseen,
    count: found.all,
  }
}
