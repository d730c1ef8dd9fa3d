import type { LibraryId } from '../../../base/objects/index.ts'
import { json, kinds, type ValueOf } from '../../../base/schemas/index.ts'
import { auditActor, parseEmail } from '../../../people/accounts/index.ts'
import type { LibraryToken } from '../../../people/credentials/index.ts'
import { accepting, oneOf, type Reader, text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { currentPassword } from '../accounts/token-input.ts'
import { libraryIdParam } from '../common/readers.ts'
import { route } from './services.ts'

const libraryToken = kinds.record('LibraryToken', () => ({
  repo_id: kinds.libraryId,
  app_name: kinds.text('The name of the app.'),
  generated_by: kinds.account,
  permission: kinds.permission,
  api_token: kinds.text('The token. Empty if it cannot be shown any more.'),
}))

type ShownToken = ValueOf<typeof libraryToken>

const permissionDescribed = { description: 'Whether the app may write, or only read.' }

const MAX_NAME = 255
const path = '/api/v2.1/repos/:repo_id/repo-api-tokens/'
const pathOfOne = '/api/v2.1/repos/:repo_id/repo-api-tokens/:app_name/'
const accesses = { r: 'read', rw: 'write' } as const

/** The name of an app in the history. E-mail addresses are rejected, so that an app cannot impersonate a user. */
const appName: Reader<string> = accepting({ type: 'string', required: true }, (fields, name) => {
  const sent = text()(fields, name).trim()
  const isUsable = sent !== '' && sent.length <= MAX_NAME && !/\p{Cc}/u.test(sent)
  if (!isUsable || parseEmail(sent) !== undefined) throw errorMessage(400, 'app_name invalid.')
  return sent
})

/** The app name in a URL, unvalidated. */
const appNameParam: Reader<string> = (fields, name) => fields.text(name) ?? ''

export const libraryTokenRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    scope: 'none',
    summary:
      'Lists the API tokens of a library, newest first. `api_token` is empty for tokens that outlive the session, unless it signed in with the password in the last ten minutes.',
    compatibility: 'supported',
    callers: 'the owner',
    params: { repo_id: libraryIdParam },
    responses: () => ({
      200: json(
        kinds.record('LibraryTokens', { repo_api_tokens: kinds.array(libraryToken) }),
        'The tokens, newest first.',
      ),
    }),
    async handle({ user, params, request }, { access, confirmations, scopedTokens }) {
      const { info } = await access.openOwned(user, params.repo_id)
      const confirmed = await confirmations.isConfirmed(user, request)
      const tokens = await scopedTokens.listForLibrary(info.key, { ...user, confirmed })
      return { repo_api_tokens: tokens.map((token) => tokenToWire(info.id, token)) }
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    scope: 'none',
    summary:
      'Creates an API token of a library for an app. It belongs to the library if the session signed in with the password in the last ten minutes or `current_password` is sent, and otherwise ends with the session.',
    compatibility: 'supported',
    params: { repo_id: libraryIdParam },
    body: {
      app_name: appName,
      permission: oneOf(['r', 'rw'], { default: 'rw' }),
      current_password: currentPassword,
    },
    responses: () => ({ 200: json(libraryToken, 'The new token.') }),
    details: () => ({
      parameters: {
        app_name: { description: 'The name of the app, which the history shows for its changes.' },
        permission: permissionDescribed,
      },
    }),
    async handle({ user, params, body, request }, services) {
      const { info } = await services.access.openOwned(user, params.repo_id)
      const outlives = await services.confirmations.isConfirmed(user, request, body.current_password)
      const options = { appName: body.app_name, access: accesses[body.permission], outlives }
      const by = auditActor(user, request)
      return tokenToWire(info.id, await services.scopedTokens.issueForLibrary(info, user, options, by))
    },
  }),
  route({
    method: 'PUT',
    path: pathOfOne,
    auth: 'user',
    scope: 'none',
    summary: 'Changes the permission of the token of an app.',
    compatibility: 'supported',
    params: { repo_id: libraryIdParam, app_name: appNameParam },
    body: { permission: oneOf(['r', 'rw']) },
    responses: () => ({ 200: json(libraryToken, 'The changed token.') }),
    details: () => ({ parameters: { permission: permissionDescribed } }),
    async handle({ user, params, body, request }, services) {
      const { info } = await services.access.openOwned(user, params.repo_id)
      const { confirmations, scopedTokens } = services
      const changed = { appName: params.app_name, access: accesses[body.permission] }
      const caller = { ...user, confirmed: await confirmations.isConfirmed(user, request) }
      const by = auditActor(user, request)
      return tokenToWire(info.id, await scopedTokens.setLibraryAccess(info, changed, caller, by))
    },
  }),
  route({
    method: 'DELETE',
    path: pathOfOne,
    auth: 'user',
    scope: 'none',
    summary: 'Revokes the token of an app immediately.',
    compatibility: 'supported',
    params: { repo_id: libraryIdParam, app_name: appNameParam },
    responses: () => ({
      200: json(kinds.successFlag, 'The token is revoked.'),
    }),
    async handle({ user, params, request }, { access, scopedTokens }) {
      const { info } = await access.openOwned(user, params.repo_id)
      await scopedTokens.revokeForLibrary(info, params.app_name, auditActor(user, request))
      return { success: true }
    },
  }),
]

function tokenToWire(id: LibraryId, token: LibraryToken): ShownToken {
  return {
    repo_id: id,
    app_name: token.appName,
    generated_by: token.madeBy,
    permission: token.access === 'read' ? 'r' : 'rw',
    api_token: token.token ?? '',
  }
}
