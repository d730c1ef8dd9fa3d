import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { tokenPermissions } from '../../../people/credentials/index.ts'
import { accepting, oneOf, type Reader, required } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse, Refusal } from '../../../platform/responses/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import { done, oauthError as oauthErrorSchema, permission as permissionSchema } from './accounts.schema.ts'
import { signInRoute as route } from './services.ts'
import { currentPassword, lifeInDays, parseTokenName, tokenAccesses, tokenName } from './token-input.ts'

const path = '/api/v2.1/device-authorization/'
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const DAY = 86_400
const UNKNOWN = 'This code is unknown, was used already or has expired.'

/** Text; undefined if it was not sent or is malformed, so that the response can be one of OAuth. */
const given: Reader<string | undefined> = (fields, name) => fields.text(name)
const demanded: Reader<string | undefined> = accepting({ type: 'string', required: true }, (fields, name) =>
  fields.text(name),
)

/**
 * Sign-in by a code: the device authorization grant of RFC 8628. The two calls of the client answer errors in the form of OAuth (RFC 6749, 5.2);
 * those of the person are calls of this API.
 */
export const deviceAuthorizationRoutes = [
  route({
    method: 'POST',
    path,
    auth: 'none',
    limit: 'anonymous',
    summary:
      'Begins a sign-in by a code (RFC 8628): returns a code for the client, and one that a person confirms in a browser.',
    compatibility: 'addition',
    callers: 'anyone',
    sample: { form: { client_id: 'carrel' } },
    body: { client_id: demanded, device_name: given, scope: given },
    responses: () => ({
      200: json(
        kinds.record('DeviceAuthorization', {
          device_code: kinds.text('The code of the client, a secret.'),
          user_code: kinds.text('The code that a person confirms.'),
          verification_uri: kinds.url,
          verification_uri_complete: kinds.url,
          expires_in: kinds.count('Seconds.'),
          interval: kinds.count('Seconds between two polls.'),
        }),
        'The codes.',
      ),
      400: json(oauthErrorSchema, 'Why it was refused.'),
    }),
    async handle({ body, request }, { deviceAuthorizations }) {
      const { address, network, baseUrl } = request
      const clientId = parseTokenName(body.client_id ?? '')
      if (clientId === undefined) throw oauthError('invalid_request', 'client_id invalid.')
      const deviceName = body.device_name ? parseTokenName(body.device_name) : ''
      if (deviceName === undefined) throw oauthError('invalid_request', 'device_name invalid.')
      const scope = body.scope || 'rw'
      if (!isPermission(scope)) throw oauthError('invalid_scope', 'scope has to be r, rw or upload.')
      const asked = { clientId, deviceName, access: tokenAccesses[scope], address }
      const { deviceCode, userCode, expiresIn, interval } = await deviceAuthorizations.begin(asked, network)
      const page = `${baseUrl}/app/device`
      return uncached({
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        // In the fragment, which browsers never send, so that the code is in no log of a server or proxy.
        verification_uri_complete: `${page}#${userCode}`,
        expires_in: expiresIn,
        interval,
      })
    },
  }),
  route({
    method: 'POST',
    path: `${path}token/`,
    auth: 'none',
    limit: 'anonymous',
    summary: 'Returns the personal token of a sign-in by a code once it was confirmed (RFC 8628), only once.',
    compatibility: 'addition',
    body: { grant_type: demanded, client_id: demanded, device_code: demanded },
    responses: () => ({
      200: json(
        kinds.record('DeviceToken', {
          access_token: kinds.text('The personal token. It is not shown again.'),
          token_type: kinds.literal('Bearer'),
          scope: permissionSchema,
          expires_in: kinds.optional(kinds.count('Seconds. A token without it does not expire.')),
        }),
        'The token.',
      ),
      400: json(oauthErrorSchema, 'Why there is no token, or none yet.'),
    }),
    async handle({ body, request }, { deviceAuthorizations, now }) {
      const { client_id: clientId, device_code: deviceCode } = body
      if (!body.grant_type || !clientId || !deviceCode) {
        throw oauthError('invalid_request', 'grant_type, client_id and device_code are required.')
      }
      if (body.grant_type !== GRANT)
        throw oauthError('unsupported_grant_type', `grant_type has to be ${GRANT}.`)
      const outcome = await deviceAuthorizations.poll(clientId.trim(), deviceCode, request.address)
      if ('error' in outcome) throw oauthError(outcome.error, descriptions[outcome.error])
      const { token, access, expiresAt } = outcome
      return uncached({
        access_token: token,
        token_type: 'Bearer',
        scope: tokenPermissions[access],
        ...(expiresAt !== undefined && { expires_in: Math.max(0, expiresAt - now()) }),
      })
    },
  }),
  route({
    method: 'POST',
    path: `${path}check/`,
    auth: 'user',
    summary: 'Returns the client that shows a user code, and when and from where it asked.',
    compatibility: 'addition',
    body: { user_code: required() },
    responses: () => ({
      200: json(
        kinds.record('PendingDevice', {
          client_id: kinds.text('The name of the program.'),
          device_name: kinds.text('The name of the machine, or empty.'),
          permission: kinds.oneOfWords(
            ['r', 'rw', 'upload', 'session'],
            'What it asks for. `session` is a session of the account.',
          ),
          address: kinds.text('The address it asked from.'),
          created_at: kinds.isoTime,
          expires_at: kinds.isoTime,
        }),
        'The client.',
      ),
    }),
    details: () => ({ errors: [404] }),
    async handle({ user, body, request }, { deviceAuthorizations }) {
      const found = await deviceAuthorizations.find(user, request.network, body.user_code)
      if (found === undefined) throw errorMessage(404, UNKNOWN)
      return {
        client_id: found.clientId,
        device_name: found.deviceName,
        permission: found.access === 'session' ? found.access : tokenPermissions[found.access],
        address: found.address,
        created_at: isoTime(found.createdAt),
        expires_at: isoTime(found.expiresAt),
      }
    },
  }),
  route({
    method: 'POST',
    path: `${path}approve/`,
    auth: 'user',
    summary:
      'Grants a personal token to the client that shows a user code, or a session of the account (`session`) to one that opened the page itself. It outlives the session, so a sign-in with the password in the last ten minutes or `current_password` is required.',
    compatibility: 'addition',
    body: {
      user_code: required(),
      name: tokenName,
      permission: oneOf(['r', 'rw', 'upload', 'session']),
      expire_days: lifeInDays,
      current_password: currentPassword,
    },
    responses: () => done('Access is granted.'),
    details: () => ({ errors: [404] }),
    async handle({ user, body, request }, services) {
      await services.confirmations.require(user, request, body.current_password)
      const { name, permission, expire_days: days } = body
      const expiresAt = days === undefined ? undefined : services.now() + days * DAY
      const isApproved = await services.deviceAuthorizations.approve(
        user,
        request.network,
        body.user_code,
        { name, access: permission === 'session' ? permission : tokenAccesses[permission], expiresAt },
        auditActor(user, request),
      )
      if (!isApproved) throw errorMessage(404, UNKNOWN)
      return { success: true }
    },
  }),
  route({
    method: 'POST',
    path: `${path}deny/`,
    auth: 'user',
    summary: 'Denies access to the client that shows a user code.',
    compatibility: 'addition',
    body: { user_code: required() },
    responses: () => done('Access is denied.'),
    details: () => ({ errors: [404] }),
    async handle({ user, body, request }, { deviceAuthorizations }) {
      const by = auditActor(user, request)
      if (!(await deviceAuthorizations.deny(user, request.network, body.user_code, by)))
        throw errorMessage(404, UNKNOWN)
      return { success: true }
    },
  }),
]

const descriptions = {
  authorization_pending: 'Nobody has confirmed the code yet.',
  slow_down: 'Poll less often: 5 seconds later than before.',
  access_denied: 'Access was denied.',
  expired_token: 'The code has expired.',
  invalid_grant: 'The code is unknown or was used already.',
}

function isPermission(text: string): text is keyof typeof tokenAccesses {
  return Object.hasOwn(tokenAccesses, text)
}

function oauthError(error: string, description: string): Refusal {
  return new Refusal(400, { error, error_description: description }, { 'Cache-Control': 'no-store' })
}

const uncached = (body: unknown) => jsonResponse(200, body, { 'Cache-Control': 'no-store' })
