import { integer, optional, optionalText, rawResponse } from '../../http/index.ts'
import { route } from '../services.ts'
import { given, worded } from './account-input.ts'
import { accountInfoToWire } from './account-wire.ts'
import { defaultAvatar } from './default-avatar.ts'

const interval = (name: string) => optional(integer({ default: 0, message: `${name} invalid` }))

export const accountRoutes = [
  route({
    method: 'GET',
    path: '/api2/account/info/',
    auth: 'user',
    scope: 'read',
    summary: "The caller's account, and the space it uses and may use.",
    handle: ({ user, request }, services) => accountInfoToWire(user, services, request.baseUrl),
  }),
  route({
    method: 'PUT',
    path: '/api2/account/info/',
    auth: 'user',
    summary: "Changes the caller's name.",
    body: {
      name: optionalText('name invalid'),
      file_updates_email_interval: interval('file_updates_email_interval'),
      collaborate_email_interval: interval('collaborate_email_interval'),
    },
    async handle({ user, body, request }, services) {
      const changes = given({ name: body.name })
      const account = await worded(services.accounts.update(user.email, changes), {
        'name-invalid': 'name invalid',
      })
      return accountInfoToWire(account, services, request.baseUrl)
    },
  }),
  route({
    method: 'GET',
    path: '/media/avatars/default.png',
    auth: 'none',
    summary: 'The picture of an account that has none of its own.',
    handle: () =>
      rawResponse({
        headers: { 'Content-Type': 'image/png', 'Cache-Control': 'public, max-age=86400' },
        body: defaultAvatar(),
      }),
  }),
]
