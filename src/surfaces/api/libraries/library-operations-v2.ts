import { fail } from '../../../base/errors.ts'
import type { LibraryId } from '../../../base/objects/index.ts'
import { parseName } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import type { LibraryEncryption } from '../../../libraries/content/index.ts'
import { renameLibrary } from '../../../libraries/library/index.ts'
import type { LibraryInfo } from '../../../libraries/registry/index.ts'
import { type Account, auditActor } from '../../../people/accounts/index.ts'
import { type HttpRequest, throttled } from '../../../platform/http/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { deniedMessage, withFaultMessages } from '../common/fault-messages.ts'
import { parseText } from '../common/parse-values.ts'
import { libraryIdParam } from '../common/readers.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { NO_ACCESS } from './library-wire.ts'
import { type LibraryServices, route } from './services.ts'

const INCORRECT_PASSWORD = 'Incorrect password'

export const libraryOperationRoutes = [
  route({
    method: 'POST',
    path: '/api2/repos/:repo_id/',
    auth: 'user',
    // Any token may unlock; only the owner may rename.
    scope: 'any',
    summary:
      'Renames a library (`op=rename`), unlocks it with its password for an hour (`op=setpassword`), or checks its magic (`op=checkpassword`).',
    compatibility: 'supported',
    callers: 'the owner',
    sample: { query: { op: 'rename' }, form: { repo_name: 'Renamed' } },
    params: { repo_id: libraryIdParam },
    query: { op: rawText(), magic: rawText() },
    body: { repo_name: rawText(), repo_desc: rawText(), password: rawText(), magic: rawText() },
    faults: olderLibraryNotFound,
    responses: () => ({
      200: json(
        kinds.anyOf([kinds.successWord, kinds.literal('unsupported operation')]),
        'The operation was done, or is unknown.',
      ),
    }),
    details: () => ({
      errors: [409, 440, 441],
      parameters: {
        op: { description: '`rename`, `setpassword` or `checkpassword`. Default: `setpassword`.' },
        magic: { description: 'For `checkpassword`, in the query or in the body.' },
        repo_name: { description: 'The new name, for `rename`.' },
        repo_desc: { description: 'The new description, for `rename`.' },
        password: { description: 'For `setpassword`.' },
      },
    }),
    async handle({ user, params, query, body, request }, services) {
      const call = { user, id: params.repo_id, services, request }
      if (!(await services.access.exists(call.id))) fail({ code: 'library-not-found', id: call.id })
      const op = query.op ?? 'setpassword'
      if (op === 'rename') return rename(call, body.repo_name ?? '', body.repo_desc)
      if (op === 'setpassword') return setPassword(call, body.password)
      if (op === 'checkpassword') return compareMagic(call, query.magic || body.magic)
      return 'unsupported operation'
    },
  }),
]

interface Call {
  readonly user: Account
  readonly id: LibraryId
  readonly services: LibraryServices
  readonly request: HttpRequest
}

async function rename(call: Call, sentName: string, sentText: string | undefined) {
  const { user, id, services, request } = call
  const name = parseName(sentName) ?? fail({ code: 'name-invalid', name: sentName })
  const description = sentText === undefined ? undefined : parseText(sentText)
  if (sentText !== undefined && description === undefined) throw errorMessage(400, 'repo_desc invalid.')
  const words = deniedMessage('You do not have permission to rename this library.')
  const library = await withFaultMessages(words, () => services.access.openOwned(user, id))
  await renameLibrary(services.core, library, name, description, auditActor(user, request))
  return 'success'
}

async function setPassword({ user, id, services, request }: Call, password: string | undefined) {
  const library = await withFaultMessages(deniedMessage(NO_ACCESS), () => services.access.open(user, id))
  const encryption = encryptionOf(library.info)
  if (!password) throw errorMessage(440, 'Library password is needed.')
  // Trailing NULs do not change the derived key, so passwords with NULs are rejected.
  if (parseText(password) === undefined) throw errorMessage(400, INCORRECT_PASSWORD)
  const opening = { library, encryption, by: auditActor(user, request) }
  const outcome = await services.libraryPasswords.set(opening, password)
  if (typeof outcome === 'object') throw throttled(outcome.retryAfterSeconds)
  if (outcome === 'wrong') throw errorMessage(400, INCORRECT_PASSWORD)
  return 'success'
}

async function compareMagic({ user, id, services, request }: Call, magic: string | undefined) {
  if (!magic) throw errorMessage(441, 'Library password magic is needed.')
  const library = await services.access.open(user, id)
  const opening = { library, encryption: encryptionOf(library.info), by: auditActor(user, request) }
  const outcome = await services.libraryPasswords.compareMagic(opening, magic)
  if (typeof outcome === 'object') throw throttled(outcome.retryAfterSeconds)
  // Existing clients expect this status for a wrong password.
  if (outcome === 'wrong') throw errorMessage(500, `SearpcError:${INCORRECT_PASSWORD}`)
  return 'success'
}

function encryptionOf(library: LibraryInfo): LibraryEncryption {
  if (library.encryption === undefined) throw errorMessage(409, 'Repo is not encrypted')
  return library.encryption
}
