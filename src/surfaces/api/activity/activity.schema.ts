import { json, kinds, type ValueOf } from '../../../base/schemas/index.ts'

export const notifications = {
  notification_list: kinds.array(
    kinds.record('Notification', () => ({
      id: kinds.integer(),
      type: kinds.text('The kind of the notification.'),
      detail: kinds.mapOf(kinds.unknown(), 'Its fields depend on the kind.'),
      time: kinds.isoTime,
      seen: kinds.flag(),
    })),
  ),
  unseen_count: kinds.count('The number of those that were not seen.'),
  count: kinds.count('The number of all.'),
}

export const webhook = kinds.record('Webhook', () => ({
  id: kinds.integer(),
  repo_id: kinds.libraryId,
  url: kinds.url,
  creator: kinds.account,
  created_at: kinds.isoTime,
  is_valid: kinds.flag('Whether deliveries are still tried.'),
  settings: kinds.object({ secret: kinds.text('Shown only when it was just created or changed.') }),
}))

export const oneWebhook = kinds.record('OneWebhook', () => ({ webhook }))

export const delivery = kinds.record('Delivery', () => ({
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
  body: kinds.mapOf(kinds.unknown(), 'The event as it was sent.'),
}))

const activity = kinds.record('Activity', () => ({
  op_type: kinds.oneOfWords(['create', 'delete', 'edit', 'rename', 'move', 'recover', 'clean-up-trash']),
  obj_type: kinds.oneOfWords(['repo', 'dir', 'file']),
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  commit_id: kinds.objectIdOrEmpty,
  path: kinds.path,
  name: kinds.name,
  old_path: kinds.optional(kinds.text('The path before the rename or move.')),
  old_name: kinds.optional(kinds.text('The name before the rename or move.')),
  old_repo_name: kinds.optional(kinds.text('The previous name of a renamed library.')),
  days: kinds.optional(kinds.integer('The days that were kept when the trash was emptied.')),
  unlisted: kinds.optional(
    kinds.count(
      'The number of further changes of this kind in the commit. A commit has rows for 100 changes.',
    ),
  ),
  author_email: kinds.account,
  author_name: kinds.displayName,
  author_contact_email: kinds.contactEmail,
  via_link: kinds.optional(
    kinds.literal(true, { description: 'A visitor of a link made the change. The author created the link.' }),
  ),
  login_id: kinds.literal('', { description: 'An unused constant.' }),
  avatar_url: kinds.url,
  time: kinds.isoTime,
  details: kinds.array(kinds.text(), {
    description: 'Always empty: activities are not grouped.',
    maxItems: 0,
  }),
  count: kinds.literal(0, { description: 'Always 0: activities are not grouped.' }),
}))

export type Activity = ValueOf<typeof activity>

export const activities = kinds.array(activity)

export const done = (description: string) => ({ 200: json(kinds.successFlag, description) })
