import { fail } from '../../errors.ts'
import { accepting, errorMessage, jsonUnlessUnchanged, type Reader, rawText, text } from '../../http/index.ts'
import { canAddLibrary } from '../../identity/index.ts'
import { createLibrary, deleteLibrary } from '../../library/index.ts'
import { parseName } from '../../objects/index.ts'
import { auditAction, libraryAction } from '../common/audit.ts'
import { deniedMessage } from '../common/fault-messages.ts'
import { parseText } from '../common/parse-values.ts'
import { libraryIdParam } from '../common/readers.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { route } from '../services.ts'
import { type LibraryRelation, listLibraries } from './library-list.ts'
import { libraryDetail, libraryItem, NO_ACCESS, syncInfo } from './library-wire.ts'
import { optionsWithEncryption, optionsWithPassword } from './new-library.ts'

/** The values of a comma-separated list; undefined if absent, which means all. */
const typeQuery: Reader<Set<string> | undefined> = accepting(
  {
    type: 'string',
    description: 'Types of libraries, separated by commas: `mine`, `shared`, `group`, `org`.',
  },
  (fields, name) => {
    const sent = fields.text(name)
    return sent ? new Set(sent.split(',').map((word) => word.trim())) : undefined
  },
)

// Clients offer encrypted libraries if this header is True.
const listHeaders = { enable_encrypted_library: 'True' }

const id = { repo_id: libraryIdParam }

export const libraryRoutesV2 = [
  route({
    method: 'GET',
    path: '/api2/repos/',
    auth: 'user',
    scope: 'read',
    summary: 'Lists the libraries the caller can open, latest change first.',
    query: { type: typeQuery, nameContains: rawText() },
    async handle({ user, query, request }, services) {
      const { type } = query
      // On the wire, libraries shared with everyone have the type `org`.
      const wanted = {
        has: (relation: LibraryRelation) => type?.has(relation === 'public' ? 'org' : relation) ?? true,
      }
      const { entries, parties } = await listLibraries(services, user, wanted, query.nameContains)
      const time = services.now()
      const items = entries.map((listed) => libraryItem(listed, parties, time))
      return jsonUnlessUnchanged(request, items, listHeaders)
    },
  }),
  route({
    method: 'POST',
    path: '/api2/repos/',
    auth: 'user',
    summary: 'Creates a library: plain, encrypted with a password, or encrypted with values from the client.',
    query: { from: rawText() },
    body: {
      name: rawText(),
      desc: rawText(),
      // Malformed values must not count as absent, or the library would be created without encryption.
      passwd: text(),
      repo_id: text('Repo id must be a valid uuid'),
      enc_version: text('Invalid enc_version param.'),
      magic: text(),
      random_key: text(),
      salt: text(),
      pwd_hash: text(),
      pwd_hash_algo: text(),
      pwd_hash_params: text(),
      from: rawText(),
    },
    async handle({ user, query, body, request }, { audit, core, syncTokens, now }) {
      if (!canAddLibrary(user.role)) fail({ code: 'role-forbids', action: 'add-library' })
      if (!body.name) throw errorMessage(400, 'Library name is required.')
      const name = parseName(body.name) ?? fail({ code: 'name-invalid', name: body.name })
      const description = parseText(body.desc ?? '')
      if (description === undefined) throw errorMessage(400, 'desc invalid.')
      const options =
        body.repo_id === ''
          ? await optionsWithPassword(name, description, body.passwd)
          : optionsWithEncryption(name, description, body)
      const byWeb = query.from === 'web' || body.from === 'web'
      let syncToken = ''
      const library = await createLibrary(core, user, options, async (tx, made) => {
        if (!byWeb) syncToken = await syncTokens.issueIn(tx, made, user)
        await auditAction({ audit }, { user, request }, libraryAction('library-made', made))(tx)
      })
      return syncInfo(library, { email: user.email, permission: 'rw', syncToken, now: now() })
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/',
    auth: 'user',
    summary: 'Describes one library.',
    params: id,
    faults: { ...olderLibraryNotFound, ...deniedMessage(NO_ACCESS) },
    async handle({ user, params }, { access, directory }) {
      const library = await access.open(user, params.repo_id)
      return libraryDetail(library, await directory.person(library.info.modifier))
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/repos/:repo_id/',
    auth: 'user',
    summary: "Moves a library to its owner's deleted libraries.",
    params: id,
    async handle({ user, params, request }, services) {
      const library = await services.access.openOwned(user, params.repo_id)
      const action = libraryAction('library-deleted', library.info)
      await deleteLibrary(services.core, library, auditAction(services, { user, request }, action))
      return 'success'
    },
  }),
]
