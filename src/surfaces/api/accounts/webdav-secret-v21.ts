import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import type { SecretProblem } from '../../../people/credentials/index.ts'
import { text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { done } from './accounts.schema.ts'
import { credentialRoute as route } from './services.ts'
import { currentPassword } from './token-input.ts'

const path = '/api/v2.1/webdav-secret/'

const messages: Record<SecretProblem, string> = {
  'too-long': 'Length of WebDAV password should be less than 30.',
  'too-short': 'Password is too short.',
  'too-weak': 'Password is too weak.',
  'not-plain': 'Password can only contain number, upper letter, lower letter and other symbols.',
}

export const webdavSecretRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Returns whether a WebDAV password is set. Only its hash is stored.',
    compatibility: {
      result: 'different',
      note: 'Never returns the password; `is_set` says whether there is one.',
    },
    callers: 'every account',
    responses: () => ({
      200: json(
        kinds.record('WebdavSecret', { secret: kinds.nothing(), is_set: kinds.flag() }),
        'Whether there is a password. It is never shown.',
      ),
    }),
    handle: async ({ user }, { webdavSecrets }) => ({
      secret: null,
      is_set: await webdavSecrets.isSet(user),
    }),
  }),
  route({
    method: 'PUT',
    path,
    auth: 'user',
    summary:
      "Sets the caller's WebDAV password; an empty one removes it. It outlives the session, so a sign-in with the password in the last ten minutes or `current_password` is required to set it.",
    compatibility: 'supported',
    callers: 'every account',
    sample: { form: { secret: '' } },
    body: { secret: text(), current_password: currentPassword },
    responses: () => done('The password was changed or removed.'),
    details: () => ({
      parameters: { secret: { description: 'The new password. An empty one removes it.' } },
    }),
    async handle({ user, body, request }, services) {
      if (body.secret !== '') await services.confirmations.require(user, request, body.current_password)
      const problem = await services.webdavSecrets.set(user, body.secret, auditActor(user, request))
      if (problem !== undefined) throw errorMessage(400, messages[problem])
      return { success: true }
    },
  }),
]
