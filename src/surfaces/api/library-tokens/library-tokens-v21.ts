import type { LibraryId } from '../../../base/objects/index.ts'
import { json, kinds, type ValueOf } from '../../../base/schemas/index.ts'
import { parseEmail } from '../../../people/accounts/index.ts'
import { libraryAction } from '../../../people/audit/index.ts'
import type { LibraryToken } from '../../../people/credentials/index.ts'
import { accepting, oneOf, type Reader, text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { currentPassword } from '../accounts/token-input.ts'
import { type AuditedCall, auditAction, auditCredential } from '../common/audit.ts'
import { libraryIdParam } from '../common/readers.ts'
import { type LibraryTokenServices, route } from './services.ts'

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
      const call = { user, request }
      const detail = {
        app: body.app_name,
        permission: body.permission,
        ...(!outlives && { session: user.apiTokenKey }),
      }
      const action = libraryAction('api-token-made', info, detail)
      const also = outlives
        ? auditCredential(services, call, action, { kind: 'library', name: body.app_name, library: info })
        : auditAction(services, call, action)
      return tokenToWire(info.id, await services.scopedTokens.issueForLibrary(info.key, user, options, also))
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
      const changed = { app_name: params.app_name, permission: body.permission }
      const also = auditToken(services, { user, request }, 'api-token-made', info, changed)
      const { confirmations, scopedTokens } = services
      const access = accesses[body.permission]
      const caller = { ...user, confirmed: await confirmations.isConfirmed(user, request) }
      return tokenToWire(
        info.id,
        await scopedTokens.setLibraryAccess(info.key, params.app_name, access, caller, also),
      )
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
    async handle({ user, params, request }, services) {
      const { info } = await services.access.openOwned(user, params.repo_id)
      const also = auditToken(services, { user, request }, 'api-token-revoked', info, {
        app_name: params.app_name,
      })
      await services.scopedTokens.revokeForLibrary(info.key, params.app_name, also)
      return { success: true }
    },
  }),
]

function auditToken(
  services: LibraryTokenServices,
  call: AuditedCall,
  action: 'api-token-made' | 'api-token-revoked',
  library: { id: LibraryId; name: string },
  { app_name: app, permission }: { app_name: string; permission?: string },
) {
  return auditAction(
    services,
    call,
    libraryAction(action, library, { app, ...(permission && { permission }) }),
  )
}

function tokenToWire(id: LibraryId, token: LibraryToken): ShownToken {
  return {
    repo_id: id,
    app_name: token.appName,
    generated_by: token.madeBy,
    permission: token.access === 'read' ? 'r' : 'rw',
    api_token: token.token ?? '',
  }
}
