import { json } from '../../../base/schemas/index.ts'
import { parseDevice } from '../../../people/credentials/index.ts'
import { type Reader, required } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { token as tokenSchema } from './accounts.schema.ts'
import { signInRoute as route } from './services.ts'

/** Text about the browser; undefined if absent or malformed. */
const deviceText: Reader<string | undefined> = (fields, name) => fields.text(name)

/** A client opens the web app without a second sign-in. */
export const clientLoginRoutes = [
  route({
    method: 'POST',
    path: '/api2/client-login/',
    auth: 'user',
    summary: 'Returns a token that signs a browser in once, within 30 seconds, at `/client-login/`.',
    compatibility: {
      result: 'different',
      note: 'The session is for one tab and ends with the sign-in of the client.',
    },
    callers: 'every account',
    responses: () => ({ 200: json(tokenSchema, 'A token for `/client-login/`.') }),
    handle: async ({ user }, { signInLinks }) => ({ token: await signInLinks.issue(user) }),
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/client-login/',
    auth: 'none',
    limit: 'anonymous',
    summary:
      'Signs a browser in with a token of `/api2/client-login/`. The session ends with the one of the client.',
    compatibility: 'addition',
    body: { token: required(), device_id: deviceText, device_name: deviceText },
    responses: () => ({ 200: json(tokenSchema, 'The API token of the browser.') }),
    async handle({ body, request }, { signInLinks }) {
      const { address } = request
      const { device_id: deviceId, device_name: deviceName } = body
      const browser = parseDevice({ platform: 'linux', deviceId, deviceName, clientVersion: 'web' })
      if (typeof browser === 'string') throw errorMessage(400, 'device_id invalid.')
      const client = { address, userAgent: request.headers['user-agent'] ?? '' }
      const token = await signInLinks.consume(body.token, browser, client)
      if (token === undefined) throw errorMessage(400, 'token invalid.')
      return { token }
    },
  }),
]
