import { readApiToken } from '../../http/credentials.ts'
import { map, required, text } from '../../http/readers.ts'
import { errorMessage } from '../../http/refusal.ts'
import { isPlatform, type Platform } from '../../identity/device.ts'
import { optionalFlag } from '../account-input.ts'
import { deviceToWire } from '../account-wire.ts'
import { route } from '../services.ts'

const platform = map(text(), (sent): Platform | undefined => (isPlatform(sent) ? sent : undefined))

export const deviceRoutes = [
  route({
    method: 'POST',
    path: '/api2/logout-device/',
    auth: 'user',
    summary: 'Ends the API token the call was made with, and what its device keeps in sync.',
    async handle({ request }, { apiTokens }) {
      await apiTokens.revoke(readApiToken(request.headers.authorization))
      return {}
    },
  }),
  route({
    method: 'GET',
    path: '/api2/devices/',
    auth: 'user',
    summary: 'The devices the caller has signed in on.',
    async handle({ user }, { apiTokens }) {
      const devices = await apiTokens.listDevices(user)
      return devices.map((device) => deviceToWire(user, device))
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/devices/',
    auth: 'user',
    summary: 'Unlinks a device: its API token and its sync tokens end. It can be told to wipe itself, too.',
    body: { platform, device_id: required(), wipe_device: optionalFlag },
    async handle({ user, body }, { apiTokens }) {
      await apiTokens.revokeDevice(
        user,
        { platform: body.platform, deviceId: body.device_id },
        { wipe: body.wipe_device === true },
      )
      return { success: true }
    },
  }),
  route({
    method: 'POST',
    path: '/api2/device-wiped/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'A device that was told to wipe itself says that it has.',
    body: { token: map(text(), (sent) => (sent.length === 40 ? sent : undefined)) },
    async handle({ body: { token } }, { apiTokens }) {
      const found = await apiTokens.confirmWiped(token)
      if (found === 'unknown') throw errorMessage(404, `token ${token} not found.`)
      if (found === 'not-to-be-wiped') throw errorMessage(400, 'invalid device token')
      return {}
    },
  }),
]
