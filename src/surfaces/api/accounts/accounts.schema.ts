import { json, kinds, type ValueOf } from '../../../base/schemas/index.ts'

/** A user as others see them. */
export const person = kinds.record('User', () => ({
  email: kinds.account,
  name: kinds.displayName,
  contact_email: kinds.contactEmail,
  avatar_url: kinds.url,
}))

export type Person = ValueOf<typeof person>

export const accountInfo = kinds.record('AccountInfo', () => ({
  email: kinds.account,
  name: kinds.displayName,
  contact_email: kinds.contactEmail,
  contact_email_verified: kinds.flag(),
  login_id: kinds.text('The login id, or empty.'),
  department: kinds.text(),
  institution: kinds.text(),
  usage: kinds.size,
  total: kinds.integer('The quota in bytes. A negative number is no limit.'),
  space_usage: kinds.text('The used part of the quota, in percent.'),
  avatar_url: kinds.url,
  is_staff: kinds.flag('Whether it is an administrator.'),
  enable_subscription: kinds.literal(false),
  file_updates_email_interval: kinds.integer(
    'Seconds between mails about changes in monitored libraries. 0 is never.',
  ),
  collaborate_email_interval: kinds.integer('Seconds between mails about notifications. 0 is never.'),
}))

export type AccountInfo = ValueOf<typeof accountInfo>

export const profile = kinds.record('Profile', () => ({
  email: kinds.account,
  name: kinds.displayName,
  contact_email: kinds.contactEmail,
  contact_email_verified: kinds.flag(),
  telephone: kinds.literal(''),
  login_id: kinds.text('The login id, or empty.'),
  list_in_address_book: kinds.flag(),
  language: kinds.text('The language of mails, or empty.'),
  mail_notices: kinds.oneOfWords(['off', 'at-once', 'daily']),
}))

export type Profile = ValueOf<typeof profile>

const orNever = kinds.orNull(kinds.isoTime)

export const session = kinds.record('Session', () => ({
  id: kinds.integer(),
  platform: kinds.oneOfWords(['windows', 'linux', 'mac', 'android', 'ios', ''], 'Empty without a device.'),
  device_id: kinds.text('The id of the device, or empty.'),
  device_name: kinds.text('The name of the device, or empty.'),
  client_version: kinds.text(),
  platform_version: kinds.text(),
  user_agent: kinds.text(),
  last_login_ip: kinds.text('The address it was opened from.'),
  created_at: kinds.isoTime,
  last_accessed: kinds.isoTime,
  expires_at: orNever,
  wiped_at: orNever,
  is_current: kinds.flag('Whether it is the session of the request.'),
}))

export const webdavClient = kinds.record('WebdavClient', () => ({
  id: kinds.integer(),
  credential: kinds.oneOfWords(
    ['webdav-password', 'account-password', 'personal-token'],
    'What it signs in with. It ends with this credential.',
  ),
  token_id: kinds.anyOf([kinds.integer(), kinds.nothing()]),
  token_name: kinds.anyOf([kinds.text('The name of the personal token.'), kinds.nothing()]),
  user_agent: kinds.text('The user agent of the program, or empty.'),
  last_login_ip: kinds.text('The address of its last request that was recorded.'),
  created_at: kinds.isoTime,
  last_accessed: kinds.isoTime,
}))

export const trustedDevice = kinds.record('TrustedDevice', () => ({
  id: kinds.integer(),
  user_agent: kinds.text('The user agent of its last sign-in without a code.'),
  last_login_ip: kinds.text('The address of that sign-in.'),
  created_at: kinds.isoTime,
  last_accessed: kinds.isoTime,
  expires_at: kinds.isoTime,
}))

/** A secret for an authenticator app. */
export const totpOffer = kinds.record('TotpOffer', () => ({
  setup: kinds.text('To be sent with the first code, within an hour.'),
  secret: kinds.text('The secret in Base32, for apps that have no camera.'),
  uri: kinds.text('The `otpauth:` URI that apps read from a QR code.'),
}))

export const recoveryCodes = kinds.record('RecoveryCodes', () => ({
  recovery_codes: kinds.array(kinds.text('A code that signs in once.')),
}))

/** A device that an account has signed in on. */
export const device = {
  user: kinds.account,
  platform: kinds.oneOfWords(['windows', 'linux', 'mac', 'android', 'ios']),
  device_id: kinds.text('The id that the client chose.'),
  device_name: kinds.text('The name of the device.'),
  client_version: kinds.text('The version of the client, or empty.'),
  platform_version: kinds.text('The version of the platform, or empty.'),
  last_accessed: kinds.isoTime,
  last_login_ip: kinds.text('The address of the last sign-in.'),
  wiped_at: orNever,
  is_desktop_client: kinds.flag(),
}

export const permission = kinds.oneOfWords(['r', 'rw', 'upload'])

export const personalToken = {
  id: kinds.integer(),
  name: kinds.text('The name that its owner chose.'),
  permission,
  repo_id: kinds.orNull(kinds.libraryId),
  repo_name: kinds.orNull(kinds.text()),
  created_at: kinds.isoTime,
  last_used_at: orNever,
  expires_at: orNever,
}

export const onboarding = kinds.record('Onboarding', () => ({
  dismissed: kinds.array(kinds.text()),
  password_assigned: kinds.flag('Whether the password was assigned, not chosen by the owner of the account.'),
}))

/** An API token. */
export const token = kinds.record('ApiToken', () => ({ token: kinds.text('The token.') }))

/** An API token, and what the person who signed in has to know about the second factor. */
export const signedIn = kinds.record('SignedIn', () => ({
  token: kinds.text('The token.'),
  recovery_codes: kinds.optional(
    kinds.array(kinds.text(), { description: 'Of an authenticator app that was set up at this sign-in.' }),
  ),
  second_factor_due_at: kinds.optional(kinds.isoTime),
}))

export const avatar = kinds.record('AvatarUrl', () => ({ avatar_url: kinds.url }))
export const done = (description: string) => ({ 200: json(kinds.successFlag, description) })
export const nothing = kinds.object({})

export const fieldProblems = kinds.optional(
  kinds.array(kinds.text(), { description: 'What is wrong with the field.' }),
)

/** An error of OAuth (RFC 6749, 5.2), or one of a body that cannot be parsed. */
export const oauthError = kinds.anyOf([
  kinds.record('OAuthError', () => ({ error: kinds.text(), error_description: kinds.text() })),
  kinds.object({ detail: kinds.text() }),
  kinds.object({ error_msg: kinds.text() }),
])
