import { type Static, Type } from 'typebox'
import { bytes, json, kinds, operation } from '../../openapi/index.ts'

const notifications = {
  notification_list: Type.Array(
    kinds.record('Notification', {
      id: kinds.integer(),
      type: kinds.text('The kind of the notification.'),
      detail: kinds.mapOf(Type.Unknown(), 'Its fields depend on the kind.'),
      time: kinds.isoTime,
      seen: kinds.flag(),
    }),
  ),
  unseen_count: kinds.count('The number of those that were not seen.'),
  count: kinds.count('The number of all.'),
}

const webhook = kinds.record('Webhook', {
  id: kinds.integer(),
  repo_id: kinds.libraryId,
  url: kinds.url,
  creator: kinds.account,
  created_at: kinds.isoTime,
  is_valid: kinds.flag('Whether deliveries are still tried.'),
  settings: Type.Object({ secret: kinds.text('Shown only when it was just created or changed.') }),
})

const oneWebhook = kinds.record('OneWebhook', { webhook })

const delivery = kinds.record('Delivery', {
  id: kinds.text(),
  event: kinds.text('The kind of the event.'),
  state: kinds.text('`pending`, or how it ended.'),
  attempts: kinds.count('The number of attempts.'),
  created_at: kinds.isoTime,
  next_attempt_at: kinds.text('ISO 8601, or empty.'),
  finished_at: kinds.text('ISO 8601, or empty.'),
  status_code: kinds.orNull(kinds.integer('The status that the receiver answered.')),
  response: kinds.text('The beginning of its response.'),
  error: kinds.text('Why it failed, or empty.'),
  body: kinds.mapOf(Type.Unknown(), 'The event as it was sent.'),
})

const activity = kinds.record('Activity', {
  op_type: kinds.oneOfWords(['create', 'delete', 'edit', 'rename', 'move', 'recover', 'clean-up-trash']),
  obj_type: kinds.oneOfWords(['repo', 'dir', 'file']),
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  commit_id: kinds.objectIdOrEmpty,
  path: kinds.path,
  name: kinds.name,
  old_path: Type.Optional(kinds.text('The path before the rename or move.')),
  old_name: Type.Optional(kinds.text('The name before the rename or move.')),
  old_repo_name: Type.Optional(kinds.text('The previous name of a renamed library.')),
  days: Type.Optional(kinds.integer('The days that were kept when the trash was emptied.')),
  author_email: kinds.account,
  author_name: kinds.displayName,
  author_contact_email: kinds.contactEmail,
  via_link: Type.Optional(
    Type.Literal(true, { description: 'A visitor of a link made the change. The author created the link.' }),
  ),
  login_id: Type.Literal('', { description: 'An unused constant.' }),
  avatar_url: kinds.url,
  time: kinds.isoTime,
  details: Type.Array(kinds.text(), {
    description: 'Always empty: activities are not grouped.',
    maxItems: 0,
  }),
  count: Type.Literal(0, { description: 'Always 0: activities are not grouped.' }),
})

export type Activity = Static<typeof activity>

const activities = Type.Array(activity)

const done = (description: string) => ({ 200: json(kinds.successFlag, description) })

/** The feed of activities, events, notifications and webhooks. */
export const activitySchemas = [
  operation(
    'GET /api/v2.1/activities/',
    { 200: json(kinds.record('Activities', { events: activities }), 'A page of activities, newest first.') },
    {
      parameters: {
        page: { description: 'Counted from 1.' },
        per_page: { description: 'Default: 25, at most 1000.' },
        op_user: { description: 'Only activities of this account.' },
      },
    },
  ),
  operation(
    'GET /api2/events/',
    {
      200: json(
        kinds.record('OlderActivities', {
          events: activities,
          more: kinds.flag('Whether there are older ones.'),
          more_offset: kinds.count('The `start` of the next page.'),
        }),
        'Activities, newest first.',
      ),
    },
    {
      parameters: {
        start: { description: 'The number of activities to skip.' },
        limit: { description: 'The number of activities to list, at most 100.' },
      },
    },
  ),
  operation(
    'GET /api/v2.1/events/',
    { 200: bytes('text/event-stream', 'A stream of server-sent events that the server does not end.') },
    {
      parameters: { since: { description: 'The id of the last event that was received.' } },
      requestHeaders: { 'Last-Event-ID': 'As `since`. Browsers send it when they connect again.' },
    },
  ),
  operation('GET /api2/unseen_messages/', {
    200: json(kinds.record('UnseenCount', { count: kinds.count('Of notifications.') }), 'The number.'),
  }),
  operation('GET /api/v2.1/notifications/', {
    200: json(kinds.record('Notifications', notifications), 'The notifications, newest first.'),
  }),
  operation('PUT /api/v2.1/notifications/', done('All are seen.')),
  operation('DELETE /api/v2.1/notifications/', done('All were removed.')),
  operation('PUT /api/v2.1/notification/', done('It is seen.')),
  operation('GET /api/v2.1/all-notifications/', {
    200: json(
      kinds.record('AllNotifications', {
        general: Type.Object(notifications),
        discussion: Type.Object(notifications),
      }),
      'The notifications, newest first.',
    ),
  }),
  operation('PUT /api/v2.1/all-notifications/', done('All are seen.')),
  operation('POST /api/v2.1/monitored-repos/', {
    200: json(
      kinds.record('MonitoredLibrary', {
        user_email: kinds.account,
        user_name: kinds.displayName,
        user_contact_email: kinds.contactEmail,
        repo_id: kinds.libraryId,
      }),
      'The library is monitored.',
    ),
  }),
  operation('DELETE /api/v2.1/monitored-repos/:repo_id/', done('The library is not monitored.')),
  operation('GET /api/v2.1/repos/:repo_id/webhooks/', {
    200: json(kinds.record('Webhooks', { webhook_list: Type.Array(webhook) }), 'The webhooks.'),
  }),
  operation(
    'POST /api/v2.1/repos/:repo_id/webhooks/',
    { 200: json(oneWebhook, 'The new one.') },
    { errors: [409] },
  ),
  operation(
    'PUT /api/v2.1/repos/:repo_id/webhooks/:webhook_id/',
    { 200: json(oneWebhook, 'The changed one.') },
    { errors: [409] },
  ),
  operation('DELETE /api/v2.1/repos/:repo_id/webhooks/:webhook_id/', done('The webhook was deleted.')),
  operation('GET /api/v2.1/repos/:repo_id/webhooks/:webhook_id/deliveries/', {
    200: json(
      kinds.record('Deliveries', { delivery_list: Type.Array(delivery) }),
      'The deliveries, newest first.',
    ),
  }),
  operation(
    'POST /api/v2.1/repos/:repo_id/webhooks/:webhook_id/deliveries/:delivery_id/redeliver/',
    { 200: json(kinds.record('Redelivery', { delivery }), 'The new delivery.') },
    { errors: [409] },
  ),
]
