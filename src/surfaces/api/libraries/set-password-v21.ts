import { json, kinds } from '../../../base/schemas/index.ts'
import type { LibraryEncryption } from '../../../libraries/content/index.ts'
import { lockLibrary } from '../../../libraries/library/index.ts'
import type { LibraryInfo } from '../../../libraries/registry/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import type { PasswordOutcome } from '../../../people/passwords/index.ts'
import { throttled } from '../../../platform/http/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { parseText } from '../common/parse-values.ts'
import { libraryIdParam } from '../common/readers.ts'
import { route } from './services.ts'

const path = '/api/v2.1/repos/:repo_id/set-password/'
const params = { repo_id: libraryIdParam }

/** Operations that reset a forgotten password. Not supported, because the server does not store library passwords. */
const RESETS = ['can-reset-password', 'reset-password']

export const setPasswordRoutes = [
  route({
    method: 'POST',
    path,
    auth: 'user',
    scope: 'any',
    summary: 'Unlocks an encrypted library with its password for the caller, for an hour.',
    compatibility: 'supported',
    params,
    body: { password: rawText() },
    responses: () => ({ 200: json(kinds.successFlag, 'The library is unlocked.') }),
    details: () => ({
      parameters: { password: { required: true, description: 'The password of the library.' } },
    }),
    async handle({ user, params, body, request }, { access, libraryPasswords }) {
      const password = readPassword(body.password, 'password')
      const library = await access.open(user, params.repo_id)
      const encryption = encryptionOf(library.info)
      const opening = { library, encryption, by: auditActor(user, request) }
      const outcome = await libraryPasswords.set(opening, password)
      return done(outcome, 400, 'Wrong password')
    },
  }),
  route({
    method: 'PUT',
    path,
    auth: 'user',
    scope: 'none',
    summary: 'Changes the password of an encrypted library; its content is not rewritten.',
    compatibility: {
      result: 'different',
      note: '`reset-password` is refused: the server does not store library passwords.',
    },
    params,
    body: { operation: rawText(), old_password: rawText(), new_password: rawText() },
    responses: () => ({ 200: json(kinds.successFlag, 'The password was changed.') }),
    details: () => ({
      parameters: {
        operation: { description: 'Only `change-password`, which is the default.' },
        old_password: { required: true, description: 'The password until now.' },
        new_password: { required: true, description: 'The new password.' },
      },
    }),
    async handle({ user, params, body, request }, { access, libraryPasswords }) {
      const operation = body.operation || 'change-password'
      if (RESETS.includes(operation)) throw errorMessage(403, 'Feature disabled.')
      if (operation !== 'change-password') throw errorMessage(400, 'operation invalid.')
      const older = readPassword(body.old_password, 'old_password')
      const newer = readPassword(body.new_password, 'new_password')
      const library = await access.openOwned(user, params.repo_id)
      const encryption = encryptionOf(library.info)
      const opening = { library, encryption, by: auditActor(user, request) }
      const outcome = await libraryPasswords.change(opening, older, newer)
      return done(outcome, 403, 'Wrong old password')
    },
  }),
  route({
    method: 'DELETE',
    path,
    auth: 'user',
    scope: 'any',
    summary: 'Locks an encrypted library for the caller again.',
    compatibility: 'addition',
    params,
    responses: () => ({
      200: json(kinds.successFlag, 'The library is locked.'),
    }),
    async handle({ user, params, request }, { access, core }) {
      const library = await access.open(user, params.repo_id)
      encryptionOf(library.info)
      await lockLibrary(core, library, auditActor(user, request))
      return { success: true }
    },
  }),
]

/** Trailing NULs do not change the derived key, so passwords with NULs are rejected. */
function readPassword(sent: string | undefined, name: string): string {
  const password = sent === undefined ? undefined : parseText(sent)
  if (!password) throw errorMessage(400, `${name} invalid.`)
  return password
}

function encryptionOf({ id, encryption }: LibraryInfo): LibraryEncryption {
  if (encryption === undefined) throw errorMessage(400, `Library ${id} is not encrypted.`)
  return encryption
}

function done(outcome: PasswordOutcome, status: number, wrong: string) {
  if (typeof outcome === 'object') throw throttled(outcome.retryAfterSeconds)
  if (outcome === 'wrong') throw errorMessage(status, wrong)
  return { success: true }
}
