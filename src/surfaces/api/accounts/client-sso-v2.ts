import { json, kinds } from '../../../base/schemas/index.ts'
import { parseDevice } from '../../../people/credentials/index.ts'
import { type Reader, text } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse } from '../../../platform/responses/index.ts'
import { signInRoute as route } from './services.ts'

const path = '/api2/client-sso-link/'
const MAX_CLIENT_NAME = 64

/** Text about the device; undefined if it was not sent or is malformed. */
const deviceText: Reader<string | undefined> = (fields, name) => fields.text(name)

/**
 * Desktop and phone clients sign in through the browser of their device: they open the link, and poll until a person has confirmed it on the page of the
 * sign-in by a code. Their tokens open the account like those of a sign-in with the password.
 */
export const clientSsoRoutes = [
  route({
    method: 'POST',
    path,
    auth: 'none',
    limit: 'anonymous',
    summary:
      'Begins the sign-in of a client through a browser: returns the link that the client opens there.',
    compatibility: 'supported',
    query: {
      shib_platform: deviceText,
      shib_device_id: deviceText,
      shib_device_name: deviceText,
      shib_client_version: deviceText,
      shib_platform_version: deviceText,
    },
    responses: () => ({
      200: json(kinds.record('ClientSsoLink', { link: kinds.url }), 'The link to open in a browser.'),
    }),
    async handle({ query, request }, { deviceAuthorizations }) {
      const { address, network, baseUrl, url } = request
      const fields = {
        platform: query.shib_platform,
        deviceId: query.shib_device_id,
        deviceName: query.shib_device_name,
        clientVersion: query.shib_client_version,
        platformVersion: query.shib_platform_version,
      }
      // Phone clients send no device. Like those that sign in with the password without one, they share a session.
      const device = fields.platform === undefined ? undefined : parseDevice(fields)
      if (typeof device === 'string') throw errorMessage(400, `${INVALID[device]} invalid.`)
      const name = device ? `${device.platform} ${device.clientVersion}` : request.headers['user-agent']
      const asked = {
        clientId:
          (name ?? '')
            .replace(/[^\x20-\x7e]/g, '')
            .trim()
            .slice(0, MAX_CLIENT_NAME) || 'client',
        deviceName: device?.deviceName ?? '',
        access: 'session' as const,
        device,
        address,
      }
      const { deviceCode } = await deviceAuthorizations.begin(asked, network)
      const copied = new URLSearchParams(url.split('?')[1]).toString()
      const link = `${baseUrl}/client-sso/${deviceCode}/${copied === '' ? '' : `?${copied}`}`
      return jsonResponse(200, { link }, { 'Cache-Control': 'no-store' })
    },
  }),
  route({
    method: 'GET',
    path: `${path}:token/`,
    auth: 'none',
    limit: 'anonymous',
    summary: 'Returns the API token of a sign-in through a browser once it was confirmed, only once.',
    compatibility: {
      result: 'different',
      note: '`success` is returned once, not for five minutes. A link ends ten minutes after it was made, and is then `error`.',
    },
    params: { token: text() },
    responses: () => ({
      200: json(
        kinds.record('ClientSsoStatus', {
          status: kinds.oneOfWords(
            ['waiting', 'success', 'error'],
            '`error` if access was denied or the link has expired.',
          ),
          username: kinds.optional(kinds.account),
          apiToken: kinds.optional(kinds.text('The API token. It is not shown again.')),
        }),
        'How far the sign-in is.',
      ),
    }),
    details: () => ({ errors: [404] }),
    async handle({ params, request }, { deviceAuthorizations }) {
      const { address } = request
      const client = { address, userAgent: request.headers['user-agent'] ?? '' }
      const outcome = await deviceAuthorizations.pollSession(params.token, client)
      if (outcome === undefined) throw errorMessage(404, 'Link not found.')
      const body =
        outcome === 'waiting'
          ? { status: 'waiting' }
          : outcome === 'refused'
            ? { status: 'error' }
            : { status: 'success', username: outcome.email, apiToken: outcome.token }
      return jsonResponse(200, body, { 'Cache-Control': 'no-store' })
    },
  }),
]

const INVALID = { 'invalid-platform': 'shib_platform', 'invalid-device-id': 'shib_device_id' } as const
