import { errorMessage, map, readApiToken, required, text } from '../../http/index.ts'
import { isPlatform, type Platform } from '../../identity/index.ts'
import { accountDeed, deviceDeed, noting } from '../common/audit.ts'
import { route } from '../services.ts'
import { optionalFlag } from './account-input.ts'
import { deviceToWire } from './account-wire.ts'

const platform = map(text(), (sent): Platform | undefined => (isPlatform(sent) ? sent : undefined))

export const deviceRoutes = [
  route({
    method: 'POST',
    path: '/api2/logout-device/',
    auth: 'user',
    summary: 'Ends the API token the call was made with, and what its device keeps in sync.',
    async handle({ user, request }, { apiTokens, audit }) {
      const also = noting({ audit }, { user, request }, accountDeed('logout', user.email))
      await apiTokens.revoke(readApiToken(request.headers.authorization), also)
      return {}
    },
  }),
  route({
    method: 'GET',
    path: '/api2/devices/',
    auth: 'user',
    summary: 'The devices the caller has signed in on; `is_current` marks the one that asks.',
    async handle({ user, request }, { apiTokens }) {
      const devices = await apiTokens.listDevices(user)
      const current = await apiTokens.deviceOf(readApiToken(request.headers.authorization))
      return devices.map((device) => ({
        ...deviceToWire(user, device),
        is_current: device.platform === current?.platform && device.deviceId === current.deviceId,
      }))
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/devices/',
    auth: 'user',
    summary:
      'Unlinks a device: its API token and its sync tokens end. With `wipe_device` it is told to wipe itself.',
    body: { platform, device_id: required(), wipe_device: optionalFlag },
    async handle({ user, body, request }, { apiTokens, audit }) {
      const device = { platform: body.platform, deviceId: body.device_id }
      const wipe = body.wipe_device === true
      const also = noting({ audit }, { user, request }, deviceDeed(user.email, device, wipe))
      if (wipe) await apiTokens.wipeDevice(user, device, also)
      else await apiTokens.revokeDevice(user, device, also)
      return { success: true }
    },
  }),
  route({
    method: 'POST',
    path: '/api2/device-wiped/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'A device tells that it has wiped itself; whoever holds its token may.',
    body: { token: text() },
    async handle({ body }, { apiTokens }) {
      if (body.token.length !== 40) throw errorMessage(400, 'token invalid.')
      const outcome = await apiTokens.confirmWiped(body.token)
      if (outcome === 'unknown') throw errorMessage(404, `token ${body.token} not found.`)
      if (outcome === 'not-to-be-wiped') throw errorMessage(400, 'invalid device token')
      return {}
    },
  }),
]
