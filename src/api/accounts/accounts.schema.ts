import { type Static, Type } from 'typebox'
import { bytes, json, kinds, operation } from '../../openapi/index.ts'

/** A user as others see them. */
export const person = kinds.record('User', {
  email: kinds.account,
  name: kinds.displayName,
  contact_email: kinds.contactEmail,
  avatar_url: kinds.url,
})

export type Person = Static<typeof person>

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

export type AccountInfo = Static<typeof accountInfo>

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

export type Profile = Static<typeof profile>

const orNever = kinds.orNull(kinds.isoTime)

const session = kinds.record('Session', {
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
})

const webdavClient = kinds.record('WebdavClient', {
  id: kinds.integer(),
  credential: kinds.oneOfWords(
    ['webdav-password', 'account-password', 'personal-token'],
    'What it signs in with. It ends with this credential.',
  ),
  token_id: Type.Union([kinds.integer(), Type.Null()]),
  token_name: Type.Union([kinds.text('The name of the personal token.'), Type.Null()]),
  user_agent: kinds.text('The user agent of the program, or empty.'),
  last_login_ip: kinds.text('The address of its last request that was recorded.'),
  created_at: kinds.isoTime,
  last_accessed: kinds.isoTime,
})

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

const permission = kinds.oneOfWords(['r', 'rw', 'upload'])

const personalToken = {
  id: kinds.integer(),
  name: kinds.text('The name that its owner chose.'),
  permission,
  repo_id: kinds.orNull(kinds.libraryId),
  repo_name: kinds.orNull(kinds.text()),
  created_at: kinds.isoTime,
  last_used_at: orNever,
  expires_at: orNever,
}

const onboarding = kinds.record('Onboarding', {
  dismissed: Type.Array(kinds.text()),
  password_assigned: kinds.flag('Whether the password was assigned, not chosen by the owner of the account.'),
})

/** An API token. */
export const token = kinds.record('ApiToken', { token: kinds.text('The token.') })
const avatar = kinds.record('AvatarUrl', { avatar_url: kinds.url })
const done = (description: string) => ({ 200: json(kinds.successFlag, description) })
const nothing = Type.Object({})

const fieldProblems = Type.Optional(
  Type.Array(kinds.text(), { description: 'What is wrong with the field.' }),
)

/** An error of OAuth (RFC 6749, 5.2), or one of a body that cannot be parsed. */
const oauthError = Type.Union([
  kinds.record('OAuthError', { error: kinds.text(), error_description: kinds.text() }),
  Type.Object({ detail: kinds.text() }),
  Type.Object({ error_msg: kinds.text() }),
])

/** The caller's account, sessions and tokens. */
export const accountSchemas = [
  operation('POST /api2/auth-token/', {
    200: json(token, 'The API token.'),
    400: json(
      kinds.record('SignInErrors', {
        non_field_errors: fieldProblems,
        username: fieldProblems,
        password: fieldProblems,
      }),
      'Why it was refused.',
    ),
  }),
  operation('POST /api2/client-login/', { 200: json(token, 'A token for `/client-login/`.') }),
  operation('POST /api/v2.1/client-login/', { 200: json(token, 'The API token of the browser.') }),
  operation('POST /api2/client-sso-link/', {
    200: json(kinds.record('ClientSsoLink', { link: kinds.url }), 'The link to open in a browser.'),
  }),
  operation(
    'GET /api2/client-sso-link/:token/',
    {
      200: json(
        kinds.record('ClientSsoStatus', {
          status: kinds.oneOfWords(
            ['waiting', 'success', 'error'],
            '`error` if access was denied or the link has expired.',
          ),
          username: Type.Optional(kinds.account),
          apiToken: Type.Optional(kinds.text('The API token. It is not shown again.')),
        }),
        'How far the sign-in is.',
      ),
    },
    { errors: [404] },
  ),
  operation('POST /api/v2.1/device-authorization/', {
    200: json(
      kinds.record('DeviceAuthorization', {
        device_code: kinds.text('The code of the client, a secret.'),
        user_code: kinds.text('The code that a person confirms.'),
        verification_uri: kinds.url,
        verification_uri_complete: kinds.url,
        expires_in: kinds.count('Seconds.'),
        interval: kinds.count('Seconds between two polls.'),
      }),
      'The codes.',
    ),
    400: json(oauthError, 'Why it was refused.'),
  }),
  operation('POST /api/v2.1/device-authorization/token/', {
    200: json(
      kinds.record('DeviceToken', {
        access_token: kinds.text('The personal token. It is not shown again.'),
        token_type: Type.Literal('Bearer'),
        scope: permission,
        expires_in: Type.Optional(kinds.count('Seconds. A token without it does not expire.')),
      }),
      'The token.',
    ),
    400: json(oauthError, 'Why there is no token, or none yet.'),
  }),
  operation(
    'POST /api/v2.1/device-authorization/check/',
    {
      200: json(
        kinds.record('PendingDevice', {
          client_id: kinds.text('The name of the program.'),
          device_name: kinds.text('The name of the machine, or empty.'),
          permission: kinds.oneOfWords(
            ['r', 'rw', 'upload', 'session'],
            'What it asks for. `session` is a session of the account.',
          ),
          address: kinds.text('The address it asked from.'),
          created_at: kinds.isoTime,
          expires_at: kinds.isoTime,
        }),
        'The client.',
      ),
    },
    { errors: [404] },
  ),
  operation('POST /api/v2.1/device-authorization/approve/', done('Access is granted.'), { errors: [404] }),
  operation('POST /api/v2.1/device-authorization/deny/', done('Access is denied.'), { errors: [404] }),
  operation('POST /api2/logout-device/', { 200: json(nothing, 'The token is revoked.') }),
  operation('POST /api2/device-wiped/', { 200: json(nothing, 'The report was stored.') }),
  operation('GET /api2/devices/', {
    200: json(
      Type.Array(
        kinds.record('Device', { ...device, is_current: kinds.flag('Whether it sent the request.') }),
      ),
      'The devices.',
    ),
  }),
  operation('DELETE /api2/devices/', done('The device is unlinked.')),
  operation('GET /api/v2.1/sessions/', {
    200: json(
      kinds.record('Sessions', { sessions: Type.Array(session), webdav_clients: Type.Array(webdavClient) }),
      'The sessions.',
    ),
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
  operation('PUT /api/v2.1/webdav-secret/', done('The password was changed or removed.'), {
    parameters: { secret: { description: 'The new password. An empty one removes it.' } },
  }),
  operation('POST /api/v2.1/password-reset/', done('If there is such an account, a mail is sent to it.'), {
    parameters: { email: { description: 'The account.' } },
  }),
  operation('POST /api/v2.1/password-reset/check/', {
    200: json(
      kinds.record('AccountTokenPurpose', {
        email: kinds.account,
        purpose: kinds.oneOfWords(['invitation', 'password-reset', 'contact']),
      }),
      'The account and the purpose of the token.',
    ),
  }),
  operation(
    'POST /api/v2.1/password-reset/confirm/',
    {
      200: json(
        kinds.record('PasswordChosen', { success: Type.Literal(true), email: kinds.account }),
        'The password was changed.',
      ),
    },
    {
      parameters: {
        token: { description: 'The token in the link of the mail.' },
        new_password: { required: true, description: 'The new password.' },
      },
    },
  ),
  operation('POST /api/v2.1/confirm-contact-email/', {
    200: json(
      kinds.record('ContactVerified', {
        success: Type.Literal(true),
        contact_email: kinds.contactEmail,
      }),
      'The address is verified.',
    ),
  }),
  operation('POST /api/v2.1/tool-calls/', done('The call is in the audit log.'), {
    parameters: {
      tool: { required: true, description: 'The name of the tool: letters, digits, `_` and `-`.' },
      repo_id: { description: 'The id of the library that the tool uses.' },
      path: { description: 'The path that the tool uses.' },
    },
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
  operation('GET /media/avatars/default.png', { 200: bytes('image/png', 'The image.') }),
  operation('GET /media/avatars/:name/:size', {
    200: bytes('image/png', 'The image. It never changes.'),
  }),
]
