import { json, kinds } from '../../../base/schemas/index.ts'
import { accountAction } from '../../../people/audit/index.ts'
import { isPlatform, type Platform } from '../../../people/credentials/index.ts'
import { readApiToken } from '../../../platform/http/index.ts'
import { map, required, text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { auditAction, deviceAction } from '../common/audit.ts'
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
    async handle({ user, request }, { apiTokens, audit, scopedTokens }) {
      if (user.scope !== undefined) {
        const { tokenKey: token } = user.scope
        const action = accountAction('api-token-revoked', user.email, { token })
        await scopedTokens.revokePersonal(user, token, auditAction({ audit }, { user, request }, action))
        return {}
      }
      const also = auditAction({ audit }, { user, request }, accountAction('logout', user.email))
      await apiTokens.revoke(readApiToken(request.headers.authorization), also)
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
    async handle({ user, body, request }, { apiTokens, audit }) {
      const device = { platform: body.platform, deviceId: body.device_id }
      const wipe = body.wipe_device === true
      const also = auditAction({ audit }, { user, request }, deviceAction(user.email, device, wipe))
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
