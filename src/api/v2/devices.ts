import { readApiToken } from '../../http/credentials.ts'
import { map, required, text } from '../../http/readers.ts'
import { isPlatform, type Platform } from '../../identity/device.ts'
import { optionalFlag } from '../account-input.ts'
import { deviceToWire } from '../account-wire.ts'
import { accountDeed, deviceDeed, noting } from '../audited.ts'
import { route } from '../services.ts'

const platform = map(text(), (sent): Platform | undefined => (isPlatform(sent) ? sent : undefined))

export const deviceRoutes = [
  route({
    method: 'POST',
    path: '/api2/logout-device/',
    auth: 'user',
    summary: 'Ends the API token the call was made with.',
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
    summary: 'Unlinks a device: its API token ends.',
    // A device is never wiped from afar, only unlinked; the wish is read so that it is not refused.
    body: { platform, device_id: required(), wipe_device: optionalFlag },
    async handle({ user, body, request }, { apiTokens, audit }) {
      const device = { platform: body.platform, deviceId: body.device_id }
      const deed = deviceDeed(user.email, device)
      await apiTokens.revokeDevice(user, device, noting({ audit }, { user, request }, deed))
      return { success: true }
    },
  }),
]
