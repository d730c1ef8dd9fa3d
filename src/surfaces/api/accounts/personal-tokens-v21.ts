import { parseLibraryId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { type PersonalToken, tokenPermissions } from '../../../people/credentials/index.ts'
import { integer, oneOf, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import { done, personalToken } from './accounts.schema.ts'
import { credentialRoute as route } from './services.ts'
import { currentPassword, lifeInDays, tokenAccesses, tokenName } from './token-input.ts'

const DAY = 86_400
const path = '/api/v2.1/personal-tokens/'

export const personalTokenRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: "Lists the caller's personal tokens, newest first.",
    compatibility: 'addition',
    callers: 'every account',
    responses: () => ({
      200: json(
        kinds.record('PersonalTokens', { personal_tokens: kinds.array(kinds.object(personalToken)) }),
        'The tokens, without their secrets.',
      ),
    }),
    async handle({ user }, { access, scopedTokens }) {
      const tokens = await scopedTokens.listPersonal(user)
      const ids = new Set(tokens.flatMap(({ library }) => parseLibraryId(library?.id ?? '') ?? []))
      const readable: ReadonlySet<string> = new Set((await access.openAll(user, [...ids])).keys())
      return { personal_tokens: tokens.map((token) => tokenToWire(token, readable)) }
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    summary:
      'Creates a personal token with a scope, for all libraries or one, with an optional expiry. It outlives the session, so a sign-in with the password in the last ten minutes or `current_password` is required.',
    compatibility: 'addition',
    body: {
      name: tokenName,
      permission: oneOf(['r', 'rw', 'upload']),
      repo_id: rawText(),
      expire_days: lifeInDays,
      current_password: currentPassword,
    },
    responses: () => ({
      200: json(
        kinds.record('NewPersonalToken', {
          ...personalToken,
          token: kinds.text('The token. It is not shown again.'),
        }),
        'The new token.',
      ),
    }),
    async handle({ user, body, request }, services) {
      const { access, now, scopedTokens } = services
      await services.confirmations.require(user, request, body.current_password)
      const library = body.repo_id ? await access.open(user, idIn(body.repo_id)) : undefined
      const options = {
        name: body.name,
        access: tokenAccesses[body.permission],
        library: library?.info,
        expiresAt: body.expire_days === undefined ? undefined : now() + body.expire_days * DAY,
      }
      const { token, key } = await scopedTokens.issuePersonal(user, options, auditActor(user, request))
      const made = (await scopedTokens.listPersonal(user)).find((one) => one.key === key)
      if (made === undefined) throw errorMessage(404, 'Token not found.')
      // Shown only once: only its hash is stored.
      return { ...tokenToWire(made, new Set([library?.info.id ?? ''])), token }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/personal-tokens/:id/',
    auth: 'user',
    summary: 'Revokes a personal token immediately.',
    compatibility: 'addition',
    params: { id: integer({ min: 1 }) },
    faults: { 'token-not-found': () => [404, 'Token not found.'] },
    responses: () => done('The token is revoked.'),
    async handle({ user, params, request }, services) {
      await services.scopedTokens.revokePersonal(user, params.id, auditActor(user, request))
      return { success: true }
    },
  }),
]

function idIn(text: string) {
  const id = parseLibraryId(text)
  if (id === undefined) throw errorMessage(400, 'repo_id invalid.')
  return id
}

/** A library that its holder can no longer read has no name. */
function tokenToWire(token: PersonalToken, readable: ReadonlySet<string>) {
  const { library, lastUsedAt, expiresAt } = token
  return {
    id: token.key,
    name: token.name,
    permission: tokenPermissions[token.access],
    repo_id: library?.id ?? null,
    repo_name: library !== undefined && readable.has(library.id) ? library.name : null,
    created_at: isoTime(token.createdAt),
    last_used_at: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
    expires_at: expiresAt === undefined ? null : isoTime(expiresAt),
  }
}
