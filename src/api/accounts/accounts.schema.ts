import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

/** A user as others see them. */
export const person = kinds.record('User', {
  email: kinds.account,
  name: kinds.displayName,
  contact_email: kinds.contactEmail,
  avatar_url: kinds.url,
})

const accountInfo = kinds.record('AccountInfo', {
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
  enable_subscription: Type.Literal(false),
  file_updates_email_interval: kinds.integer(
    'Seconds between mails about changes in monitored libraries. 0 is never.',
  ),
  collaborate_email_interval: kinds.integer('Seconds between mails about notifications. 0 is never.'),
})

const profile = kinds.record('Profile', {
  email: kinds.account,
  name: kinds.displayName,
  contact_email: kinds.contactEmail,
  contact_email_verified: kinds.flag(),
  telephone: Type.Literal(''),
  login_id: kinds.text('The login id, or empty.'),
  list_in_address_book: kinds.flag(),
  language: kinds.text('The language of mails, or empty.'),
  mail_notices: kinds.oneOfWords(['off', 'at-once', 'daily']),
})

const orNever = kinds.orNull(kinds.isoTime)

const session = kinds.record('Session', {
  id: kinds.integer(),
  platform: kinds.text('The platform of the device, or empty.'),
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
})

const personalToken = {
  id: kinds.integer(),
  name: kinds.text('The name that its owner chose.'),
  permission: kinds.oneOfWords(['r', 'rw', 'upload']),
  repo_id: kinds.orNull(kinds.libraryId),
  repo_name: kinds.orNull(kinds.text()),
  created_at: kinds.isoTime,
  last_used_at: orNever,
  expires_at: orNever,
}

const onboarding = kinds.record('Onboarding', {
  dismissed: Type.Array(kinds.text()),
  password_assigned: kinds.flag('Whether somebody else chose the password.'),
})

const token = kinds.record('ApiToken', { token: kinds.text('The token.') })
const avatar = kinds.record('AvatarUrl', { avatar_url: kinds.url })
const done = (description: string) => ({ 200: json(kinds.successFlag, description) })
const nothing = Type.Object({})

const fieldProblems = Type.Optional(
  Type.Array(kinds.text(), { description: 'What is wrong with the field.' }),
)

/** The caller's account, sessions and tokens. */
export const accountSchemas = [
  operation('POST /api2/auth-token/', {
    200: json(token, 'The API token.'),
    400: json(
      Type.Union([
        kinds.record('SignInErrors', {
          non_field_errors: fieldProblems,
          username: fieldProblems,
          password: fieldProblems,
        }),
        Type.Object({ detail: kinds.text() }),
        Type.Object({ error_msg: kinds.text() }),
      ]),
      'Why it was refused.',
    ),
  }),
  operation('POST /api2/client-login/', { 200: json(token, 'A token for `/client-login/`.') }),
  operation('POST /api/v2.1/client-login/', { 200: json(token, 'The API token of the browser.') }),
  operation('POST /api2/logout-device/', { 200: json(nothing, 'The token is revoked.') }),
  operation('POST /api2/device-wiped/', { 200: json(nothing, 'The report was stored.') }),
  operation('DELETE /api2/devices/', done('The device is unlinked.')),
  operation('GET /api/v2.1/sessions/', {
    200: json(kinds.record('Sessions', { sessions: Type.Array(session) }), 'The sessions.'),
  }),
  operation('DELETE /api/v2.1/sessions/', done('All sessions are ended.')),
  operation('DELETE /api/v2.1/sessions/:session_id/', done('The session is ended.')),
  operation('GET /api/v2.1/personal-tokens/', {
    200: json(
      kinds.record('PersonalTokens', { personal_tokens: Type.Array(Type.Object(personalToken)) }),
      'The tokens, without their secrets.',
    ),
  }),
  operation('POST /api/v2.1/personal-tokens/', {
    200: json(
      kinds.record('NewPersonalToken', {
        ...personalToken,
        token: kinds.text('The token. It is not shown again.'),
      }),
      'The new token.',
    ),
  }),
  operation('DELETE /api/v2.1/personal-tokens/:id/', done('The token is revoked.')),
  operation('GET /api2/account/info/', { 200: json(accountInfo, 'The account.') }),
  operation('PUT /api2/account/info/', { 200: json(accountInfo, 'The changed account.') }),
  operation('GET /api/v2.1/user/', { 200: json(profile, 'The account.') }),
  operation('PUT /api/v2.1/user/', { 200: json(profile, 'The changed account.') }),
  operation('POST /api/v2.1/user/reset-password/', done('The password was changed.')),
  operation('GET /api/v2.1/onboarding/', { 200: json(onboarding, 'The state.') }),
  operation('PUT /api/v2.1/onboarding/', { 200: json(onboarding, 'The changed state.') }),
  operation('GET /api/v2.1/webdav-secret/', {
    200: json(
      kinds.record('WebdavSecret', { secret: Type.Null(), is_set: kinds.flag() }),
      'Whether there is a password. It is never shown.',
    ),
  }),
  operation('GET /api2/search-user/', {
    200: json(kinds.record('FoundUsers', { users: Type.Array(person) }), 'The users that match.'),
  }),
  operation('POST /api/v2.1/user-list/', {
    200: json(kinds.record('UserList', { user_list: Type.Array(person) }), 'Those that exist.'),
  }),
  operation('POST /api/v2.1/user-avatar/', { 200: json(avatar, 'The URL of the avatar.') }),
  operation('DELETE /api/v2.1/user-avatar/', { 200: json(avatar, 'The URL of the default avatar.') }),
  operation('GET /api2/avatars/user/:email/resized/:size/', {
    200: json(
      kinds.record('Avatar', { url: kinds.url, is_default: kinds.flag(), mtime: kinds.unixTime }),
      'The avatar.',
    ),
  }),
]
