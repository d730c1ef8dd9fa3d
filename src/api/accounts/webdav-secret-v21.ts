import { errorMessage, text } from '../../http/index.ts'
import type { SecretProblem } from '../../identity/index.ts'
import { accountDeed, noting } from '../common/audit.ts'
import { route } from '../services.ts'

const path = '/api/v2.1/webdav-secret/'

const words: Record<SecretProblem, string> = {
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
    summary: 'Tells whether there is a WebDAV password; not which, as only its hash is kept.',
    handle: async ({ user }, { webdavSecrets }) => ({
      secret: null,
      is_set: await webdavSecrets.isSet(user),
    }),
  }),
  route({
    method: 'PUT',
    path,
    auth: 'user',
    summary: "Sets the caller's WebDAV password; an empty one takes it away.",
    body: { secret: text() },
    async handle({ user, body, request }, services) {
      const deed = accountDeed('password-changed', user.email, { of: 'webdav' })
      const also = noting(services, { user, request }, deed)
      const problem = await services.webdavSecrets.set(user, body.secret, also)
      if (problem !== undefined) throw errorMessage(400, words[problem])
      return { success: true }
    },
  }),
]
