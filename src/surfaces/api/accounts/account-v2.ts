import { bytes, json } from '../../../base/schemas/index.ts'
import { integer, optional, optionalText } from '../../../platform/input/index.ts'
import { rawResponse } from '../../../platform/responses/index.ts'
import { withoutUndefined, withRuleMessages } from './account-input.ts'
import { accountInfoToWire } from './account-wire.ts'
import { accountInfo } from './accounts.schema.ts'
import { defaultAvatar } from './default-avatar.ts'
import { accountRoute as route } from './services.ts'

const MAX_INTERVAL_SECONDS = 31 * 86_400

/** Seconds between mails; 0 for none. */
const interval = (name: string) =>
  optional(integer({ default: 0, min: 0, max: MAX_INTERVAL_SECONDS, message: `${name} invalid` }))

export const accountRoutes = [
  route({
    method: 'GET',
    path: '/api2/account/info/',
    auth: 'user',
    scope: 'read',
    summary: "Returns the caller's account with its storage use and quota.",
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({ 200: json(accountInfo, 'The account.') }),
    handle: ({ user, request }, services) => accountInfoToWire(user, services, request.baseUrl),
  }),
  route({
    method: 'PUT',
    path: '/api2/account/info/',
    auth: 'user',
    summary:
      "Changes the caller's name, and how often notifications and changes in monitored libraries are mailed.",
    compatibility: { result: 'different', note: 'Intervals of mails are at most 31 days.' },
    callers: 'every account',
    sample: { form: { name: 'Somebody' } },
    body: {
      name: optionalText('name invalid'),
      file_updates_email_interval: interval('file_updates_email_interval'),
      collaborate_email_interval: interval('collaborate_email_interval'),
    },
    responses: () => ({ 200: json(accountInfo, 'The changed account.') }),
    async handle({ user, body, request }, services) {
      const changes = withoutUndefined({
        name: body.name,
        mailIntervalSeconds: body.collaborate_email_interval,
        updateMailSeconds: body.file_updates_email_interval,
      })
      const account = await withRuleMessages(services.accounts.update(user.email, changes, undefined), {
        'name-invalid': 'name invalid',
      })
      return accountInfoToWire(account, services, request.baseUrl)
    },
  }),
  route({
    method: 'GET',
    path: '/media/avatars/default.png',
    auth: 'none',
    summary: 'Returns the default avatar.',
    callers: 'anyone',
    responses: () => ({ 200: bytes('image/png', 'The image.') }),
    handle: () =>
      rawResponse({
        headers: { 'Content-Type': 'image/png', 'Cache-Control': 'public, max-age=86400' },
        body: defaultAvatar(),
      }),
  }),
]
