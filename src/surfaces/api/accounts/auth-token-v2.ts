import { json, kinds } from '../../../base/schemas/index.ts'
import { acceptedLanguage } from '../../../base/texts/index.ts'
import type { LoginOutcome } from '../../../people/credentials/index.ts'
import { type HttpRequest, throttled } from '../../../platform/http/index.ts'
import { accepting, type Reader, rawValue } from '../../../platform/input/index.ts'
import { jsonResponse, Refusal } from '../../../platform/responses/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import { fieldProblems, signedIn, totpOffer } from './accounts.schema.ts'
import { siteName } from './second-factors-v21.ts'
import { signInRoute as route } from './services.ts'

/** The text that a client sent, or the message that rejects it. */
type Sent = { readonly text: string } | { readonly problem: string }

const credential: Reader<Sent> = accepting({ type: 'string', required: true }, (fields, name) => {
  const text = fields.text(name)
  if (text !== undefined) return checkedText(text)
  const sent = rawValue()(fields, name)
  if (sent === undefined) return { problem: 'This field is required.' }
  return { problem: sent === null ? 'This field may not be null.' : 'Not a valid string.' }
})

/** Text about the device; undefined if malformed. */
const deviceText: Reader<string | undefined> = (fields, name) => fields.text(name)

export const authTokenRoutes = [
  route({
    method: 'POST',
    path: '/api2/auth-token/',
    prefix: true,
    auth: 'none',
    limit: 'anonymous',
    summary:
      'Signs in: returns the API token of an account, or of an account on one device. An account with a second factor sends its code in the header `X-Seafile-OTP`. With `X-Seafile-2FA-Trust-Device: 1` the response has a header `X-Seafile-S2FA`, which later requests send in place of a code.',
    compatibility: {
      result: 'different',
      note: 'A deactivated account gets the response of a wrong password.',
    },
    body: {
      username: credential,
      password: credential,
      platform: deviceText,
      device_id: deviceText,
      device_name: deviceText,
      client_version: deviceText,
      platform_version: deviceText,
      second_factor_setup: deviceText,
    },
    responses: () => ({
      200: json(signedIn, 'The API token.'),
      400: json(
        kinds.record('SignInErrors', {
          non_field_errors: fieldProblems,
          username: fieldProblems,
          password: fieldProblems,
          second_factor_setup: kinds.optional(totpOffer),
        }),
        'Why it was refused. The header `X-Seafile-OTP: required` asks for a code.',
      ),
    }),
    details: () => ({
      parameters: {
        second_factor_setup: {
          description:
            'The `setup` of a refusal with a secret for an authenticator app, which the account needs by now. The header `X-Seafile-OTP` has the first code of the app.',
        },
      },
    }),
    async handle({ body, request }, { login }) {
      const { username, password } = credentialsIn(body)
      const { address, network, signal } = request
      const options = {
        username,
        password,
        address,
        userAgent: request.headers['user-agent'],
        language: acceptedLanguage(request.headers['accept-language']),
        network,
        signal,
        platform: body.platform,
        deviceId: body.device_id,
        deviceName: body.device_name,
        clientVersion: body.client_version,
        platformVersion: body.platform_version,
        setup: body.second_factor_setup,
        ...secondFactorIn(request),
      }
      const outcome = await login.login(options)
      if ('refused' in outcome) throw refusalOf(outcome)
      const { trust, recoveryCodes, dueAt } = outcome
      const answer = {
        token: outcome.token,
        ...(recoveryCodes && { recovery_codes: recoveryCodes }),
        ...(dueAt !== undefined && { second_factor_due_at: isoTime(dueAt) }),
      }
      return trust === undefined ? answer : jsonResponse(200, answer, { 'X-Seafile-S2FA': trust })
    },
  }),
]

function checkedText(text: string): Sent {
  if (text.includes('\0')) return { problem: 'Null characters are not allowed.' }
  return text === '' ? { problem: 'This field may not be blank.' } : { text }
}

function credentialsIn({ username, password }: { username: Sent; password: Sent }) {
  if ('text' in username && 'text' in password) return { username: username.text, password: password.text }
  throw new Refusal(400, {
    ...('problem' in username && { username: [username.problem] }),
    ...('problem' in password && { password: [password.problem] }),
  })
}

/** What the headers of a sign-in have, under the names that existing clients use. */
function secondFactorIn(request: HttpRequest) {
  const code = request.header('x-seafile-otp')
  const trust = request.header('x-seafile-s2fa')
  const trusts = request.header('x-seafile-2fa-trust-device') === '1'
  return { code, trust, trusts, site: siteName(request.baseUrl) }
}

const messages = {
  'invalid-params': 'invalid params',
  'bad-credentials': 'Unable to login with provided credentials.',
  'invalid-device-id': 'invalid device id',
  'invalid-platform': 'invalid platform',
  'code-needed': 'Two factor auth token is missing.',
  'wrong-code': 'Two factor auth token is invalid.',
  'setup-needed': 'Two factor authentication must be set up.',
}

const asksForCode = { 'X-Seafile-OTP': 'required' }

function refusalOf(outcome: Extract<LoginOutcome, { refused: unknown }>): Refusal {
  const { refused } = outcome
  if (refused === 'throttled') return throttled(outcome.retryAfterSeconds)
  if (refused === 'setup-needed') {
    const problem = messages[outcome.wrong ? 'wrong-code' : refused]
    return new Refusal(400, { non_field_errors: [problem], second_factor_setup: outcome.offer })
  }
  const isAsking = refused === 'code-needed' || refused === 'wrong-code'
  return new Refusal(400, { non_field_errors: [messages[refused]] }, isAsking ? asksForCode : undefined)
}
