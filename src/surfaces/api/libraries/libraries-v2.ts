import { fail } from '../../../base/errors.ts'
import { parseName } from '../../../base/paths/index.ts'
import { empty, json, kinds } from '../../../base/schemas/index.ts'
import { createLibrary, deleteLibrary } from '../../../libraries/library/index.ts'
import { auditActor, roleAllows } from '../../../people/accounts/index.ts'
import { accepting, type Reader, rawText, text } from '../../../platform/input/index.ts'
import { jsonUnlessUnchanged } from '../../../platform/representations/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { deniedMessage } from '../common/fault-messages.ts'
import { parseText } from '../common/parse-values.ts'
import { libraryIdParam } from '../common/readers.ts'
import { olderLibraryNotFound } from '../faults.ts'
import {
  encryptedLibraries,
  groupLibrary,
  libraryDetail as libraryDetailSchema,
  ownLibrary,
  publicLibrary,
  sharedLibrary,
  syncInfo as syncInfoSchema,
} from './libraries.schema.ts'
import { type LibraryRelation, listLibraries } from './library-list.ts'
import { libraryDetail, libraryItem, NO_ACCESS, syncInfo } from './library-wire.ts'
import { optionsWithEncryption, optionsWithPassword } from './new-library.ts'
import { route } from './services.ts'

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
    compatibility: 'supported',
    callers: 'every account',
    query: { type: typeQuery, nameContains: rawText() },
    responses: () => ({
      200: json(
        kinds.array(kinds.anyOf([ownLibrary, sharedLibrary, groupLibrary, publicLibrary])),
        'The libraries.',
        encryptedLibraries,
      ),
      304: empty('The list has the tag that `If-None-Match` names.', encryptedLibraries),
    }),
    details: () => ({ requestHeaders: { 'If-None-Match': 'The `ETag` of an earlier response.' } }),
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
    compatibility: 'supported',
    callers: 'every account',
    sample: { form: { name: 'Mine' } },
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
    responses: () => ({ 200: json(syncInfoSchema, 'The new library.') }),
    details: () => ({
      parameters: {
        name: { required: true, description: 'The name of the library.' },
        desc: { description: 'A description.' },
        passwd: { description: 'Encrypts the library with this password.' },
        repo_id: {
          description: 'The id of a library that the client encrypts. The values below belong to it.',
        },
        enc_version: {
          description: '0, 1 and 2 create a library of encryption version 2; 3 and 4 need `salt`.',
        },
        magic: { description: 'Verifies the password.' },
        random_key: { description: 'The encrypted key of the content.' },
        salt: { description: 'Since encryption version 3.' },
        from: { description: '`web`: no sync token is issued.' },
      },
    }),
    async handle({ user, query, body, request }, { core, syncTokens, now }) {
      if (!roleAllows(user.role, 'add-library')) fail({ code: 'role-forbids', action: 'add-library' })
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
      const library = await createLibrary(
        core,
        user,
        options,
        auditActor(user, request),
        async (tx, made) => {
          if (!byWeb) syncToken = await syncTokens.issueIn(tx, made, user)
        },
      )
      return syncInfo(library, { email: user.email, permission: 'rw', syncToken, now: now() })
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/',
    auth: 'user',
    summary: 'Describes one library.',
    compatibility: 'supported',
    callers: 'readers',
    params: id,
    faults: { ...olderLibraryNotFound, ...deniedMessage(NO_ACCESS) },
    responses: () => ({ 200: json(libraryDetailSchema, 'The library.') }),
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
    compatibility: 'supported',
    callers: 'the owner',
    params: id,
    responses: () => ({ 200: json(kinds.successWord, 'The library was deleted.') }),
    async handle({ user, params, request }, services) {
      const library = await services.access.openOwned(user, params.repo_id)
      await deleteLibrary(services.core, library, auditActor(user, request))
      return 'success'
    },
  }),
]
