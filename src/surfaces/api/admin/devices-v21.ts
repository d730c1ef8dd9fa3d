import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { isPlatform, type Platform, platforms } from '../../../people/credentials/index.ts'
import { accepting, map, oneOf, type Reader, required, text } from '../../../platform/input/index.ts'
import { optionalFlag } from '../accounts/account-input.ts'
import { deviceToWire } from '../accounts/account-wire.ts'
import { device as deviceDescribed } from '../accounts/accounts.schema.ts'
import { pageQuery } from '../common/paging.ts'
import { done } from './accounts.schema.ts'
import { page as pageDescribed } from './admin.schema.ts'
import { pageInfo } from './admin-wire.ts'
import { adminRoute as route } from './services.ts'

const path = '/api/v2.1/admin/devices/'
const platform = map(text(), (sent): Platform | undefined => (isPlatform(sent) ? sent : undefined))

/** A platform, `desktop` or `mobile`; undefined if absent. */
const kind: Reader<Platform | 'desktop' | 'mobile' | undefined> = accepting(
  { type: 'string', enum: [...platforms, 'desktop', 'mobile'] },
  (fields, name) =>
    text()(fields, name) === '' ? undefined : oneOf([...platforms, 'desktop', 'mobile'])(fields, name),
)

export const adminDeviceRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'admin',
    summary: 'Lists the devices of all accounts, the most recently used first.',
    compatibility: 'supported',
    callers: 'administrators',
    query: { ...pageQuery(50), platform: kind },
    responses: () => ({
      200: json(
        kinds.record('AdminDevices', {
          page_info: pageDescribed,
          devices: kinds.array(
            kinds.record('AdminDevice', { ...deviceDescribed, user_name: kinds.displayName }),
          ),
        }),
        'A page of devices, the most recently used first.',
      ),
    }),
    async handle({ query }, { apiTokens, directory }) {
      const { page, per_page: perPage } = query
      const { devices, more } = await apiTokens.listAllDevices(query.platform, { page, perPage })
      const people = await directory.people(devices.map(({ email }) => email))
      return {
        page_info: pageInfo(page, more),
        devices: devices.map((device) => ({
          ...deviceToWire(device, device),
          user_name: people.get(device.email)?.name ?? '',
        })),
      }
    },
  }),
  route({
    method: 'DELETE',
    path,
    auth: 'admin',
    summary: 'Unlinks a device of an account, or requests its wipe; revokes its API token.',
    compatibility: 'supported',
    body: { user: required(), platform, device_id: required(), wipe_device: optionalFlag },
    responses: () => done('The device is unlinked.'),
    details: () => ({
      parameters: {
        user: { description: 'The account.' },
        platform: { required: true, description: 'The platform of the device.' },
        device_id: { description: 'The id of the device.' },
        wipe_device: { description: 'Asks the device to delete its files.' },
      },
    }),
    async handle({ user, body, request }, services) {
      const account = await services.accounts.get(body.user)
      const device = { platform: body.platform, deviceId: body.device_id }
      const by = auditActor(user, request)
      if (body.wipe_device === true) await services.apiTokens.wipeDevice(account, device, by)
      else await services.apiTokens.revokeDevice(account, device, by)
      return { success: true }
    },
  }),
]
