import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { isPlatform, type Platform } from '../../../people/credentials/index.ts'
import { readApiToken } from '../../../platform/http/index.ts'
import { map, required, text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { optionalFlag } from './account-input.ts'
import { deviceToWire } from './account-wire.ts'
import { device as deviceDescribed, done, nothing } from './accounts.schema.ts'
import { credentialRoute as route } from './services.ts'

const platform = map(text(), (sent): Platform | undefined => (isPlatform(sent) ? sent : undefined))

export const deviceRoutes = [
  route({
    method: 'POST',
    path: '/api2/logout-device/',
    auth: 'user',
    scope: 'any',
    summary:
      'Signs out: revokes the API token of the request and the sync tokens of its device, or the personal token of the request.',
    compatibility: 'supported',
    responses: () => ({ 200: json(nothing, 'The token is revoked.') }),
    async handle({ user, request }, { apiTokens, scopedTokens }) {
      const by = auditActor(user, request)
      if (user.scope !== undefined) await scopedTokens.revokePersonal(user, user.scope.tokenKey, by)
      else await apiTokens.revoke(user, readApiToken(request.headers.authorization), by)
      return {}
    },
  }),
  route({
    method: 'GET',
    path: '/api2/devices/',
    auth: 'user',
    summary: 'Lists the devices the caller has signed in on; `is_current` marks the device of the request.',
    compatibility: {
      result: 'different',
      note: 'Without `key`, which is the secret token. `is_current` is an addition.',
    },
    callers: 'every account',
    responses: () => ({
      200: json(
        kinds.array(
          kinds.record('Device', {
            ...deviceDescribed,
            is_current: kinds.flag('Whether it sent the request.'),
          }),
        ),
        'The devices.',
      ),
    }),
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
      'Unlinks a device: revokes its API token and sync tokens. `wipe_device` requests that it wipe itself.',
    compatibility: 'supported',
    body: { platform, device_id: required(), wipe_device: optionalFlag },
    responses: () => done('The device is unlinked.'),
    async handle({ user, body, request }, { apiTokens }) {
      const device = { platform: body.platform, deviceId: body.device_id }
      const by = auditActor(user, request)
      if (body.wipe_device === true) await apiTokens.wipeDevice(user, device, by)
      else await apiTokens.revokeDevice(user, device, by)
      return { success: true }
    },
  }),
  route({
    method: 'POST',
    path: '/api2/device-wiped/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Reports that a device has wiped itself, authenticated by its token.',
    compatibility: 'supported',
    body: { token: text() },
    responses: () => ({ 200: json(nothing, 'The report was stored.') }),
    async handle({ body }, { apiTokens }) {
      if (body.token.length !== 40) throw errorMessage(400, 'token invalid.')
      const outcome = await apiTokens.confirmWiped(body.token)
      if (outcome === 'unknown') throw errorMessage(404, `token ${body.token} not found.`)
      if (outcome === 'not-to-be-wiped') throw errorMessage(400, 'invalid device token')
      return {}
    },
  }),
]
