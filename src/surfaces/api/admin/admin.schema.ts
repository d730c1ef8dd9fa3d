import { kinds, type ValueOf } from '../../../base/schemas/index.ts'

/** The place of a page in a listing for administrators. */
export const page = kinds.record('PageInfo', () => ({
  has_next_page: kinds.flag('Whether there is another page.'),
  current_page: kinds.integer('Counted from 1.'),
}))

export type PageInfo = ValueOf<typeof page>

/** The bytes in the block storage. They are counted once a day. */
export const storedOnDisk = kinds.record('StoredOnDisk', () => ({
  bytes: kinds.size,
  blocks: kinds.count('The number of blocks.'),
  day: kinds.isoTime,
}))

/** The state of the mail queue. */
export const mailState = kinds.record('MailState', () => ({
  configured: kinds.flag('Whether the server sends mail.'),
  waiting: kinds.count('The number of mails that are waiting.'),
  oldest_waiting: kinds.orNull(kinds.isoTime),
  sent_24h: kinds.count('The number of mails that were sent in the last 24 hours.'),
  failed_24h: kinds.count('The number of mails that failed in the last 24 hours.'),
  last_error: kinds.orNull(kinds.text('The last answer of the mail server that was an error.')),
}))

export type MailQueue = ValueOf<typeof mailState>

/** A library as administrators see it. */
export const adminLibrary = kinds.record('AdminLibrary', () => ({
  id: kinds.libraryId,
  name: kinds.text('The name of the library.'),
  owner: kinds.account,
  owner_email: kinds.account,
  owner_name: kinds.displayName,
  owner_contact_email: kinds.contactEmail,
  size: kinds.size,
  size_formatted: kinds.sizeText,
  encrypted: kinds.flag(),
  file_count: kinds.count('The number of files.'),
  status: kinds.oneOfWords(['normal', 'read-only']),
  last_modified: kinds.isoTime,
}))

export type AdminLibrary = ValueOf<typeof adminLibrary>

const timeOrEmpty = kinds.text('ISO 8601, or empty.')

/** The fields of an account as administrators see it. */
export const adminUser = {
  email: kinds.account,
  name: kinds.displayName,
  contact_email: kinds.contactEmail,
  contact_email_verified: kinds.flag(),
  login_id: kinds.text('The login id, or empty.'),
  is_staff: kinds.flag('Whether it is an administrator.'),
  is_active: kinds.flag('Whether it can sign in.'),
  quota_usage: kinds.size,
  quota_total: kinds.integer('The quota in bytes. A negative number is no limit.'),
  create_time: kinds.isoTime,
  last_login: timeOrEmpty,
  last_access_time: timeOrEmpty,
  role: kinds.oneOfWords(['default', 'guest']),
  avatar_url: kinds.url,
  has_default_device: kinds.literal(false, { description: 'An unused constant.' }),
  is_force_2fa: kinds.flag('Whether the server demands a second factor from it.'),
  has_second_factor: kinds.flag('Whether it signs in with a second factor.'),
  social_auth: kinds.array(kinds.text(), { description: 'Always empty.', maxItems: 0 }),
}
