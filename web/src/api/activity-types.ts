import type { Records } from '../../../sdk/src/index.ts'

/** A row of `GET /api/v2.1/activities/`. */
export type ActivityItem = Omit<
  Records['Activity'],
  'author_contact_email' | 'login_id' | 'details' | 'count'
>

/** A row of `GET /api/v2.1/notifications/`; `detail` depends on the type. */
export type NotificationItem = Records['Notification']
