import { json, kinds } from '../../../base/schemas/index.ts'
import { acceptedLanguage } from '../../../base/texts/index.ts'
import type { LoginOutcome } from '../../../people/credentials/index.ts'
import { throttled } from '../../../platform/http/index.ts'
import { accepting, type Reader, rawValue } from '../../../platform/input/index.ts'
import { Refusal } from '../../../platform/responses/index.ts'
import { fieldProblems, token } from './accounts.schema.ts'
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
    summary: 'Signs in: returns the API token of an account, or of an account on one device.',
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
    },
    responses: () => ({
      200: json(token, 'The API token.'),
      400: json(
        kinds.record('SignInErrors', {
          non_field_errors: fieldProblems,
          username: fieldProblems,
          password: fieldProblems,
        }),
        'Why it was refused.',
      ),
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
      }
      const outcome = await login.login(options)
      if ('refused' in outcome) throw refusalOf(outcome)
      return { token: outcome.token }
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

const messages = {
  'invalid-params': 'invalid params',
  'bad-credentials': 'Unable to login with provided credentials.',
  'invalid-device-id': 'invalid device id',
  'invalid-platform': 'invalid platform',
}

function refusalOf(outcome: Extract<LoginOutcome, { refused: unknown }>): Refusal {
  if (outcome.refused !== 'throttled')
    return new Refusal(400, { non_field_errors: [messages[outcome.refused]] })
  return throttled(outcome.retryAfterSeconds)
}
