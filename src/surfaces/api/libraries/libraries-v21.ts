import { fail } from '../../../base/errors.ts'
import { parseName, ROOT } from '../../../base/paths/index.ts'
import { empty, json, kinds } from '../../../base/schemas/index.ts'
import { starredLibraries } from '../../../libraries/attributes/index.ts'
import { createLibrary, deleteLibrary } from '../../../libraries/library/index.ts'
import { auditActor, personOf, roleAllows, unknownPerson } from '../../../people/accounts/index.ts'
import { accepting, type Reader, rawText, text } from '../../../platform/input/index.ts'
import { jsonUnlessUnchanged } from '../../../platform/representations/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { avatarUrl } from '../accounts/account-wire.ts'
import { libraryIdParam } from '../common/readers.ts'
import { createdLibrary as createdLibrarySchema, v21Detail, v21Library } from './libraries.schema.ts'
import { type LibraryRelation, listLibraries } from './library-list.ts'
import { createdLibrary, libraryDetailV21, libraryItemV21 } from './library-wire.ts'
import { optionsWithPassword } from './new-library.ts'
import { route } from './services.ts'

/** All values of the parameter; none means all types. */
const typeQuery: Reader<readonly string[]> = accepting(
  { type: 'array', items: { type: 'string', enum: ['mine', 'shared', 'group', 'public'] } },
  (fields, name) => fields.all(name),
)

const params = { repo_id: libraryIdParam }

export const libraryRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/',
    auth: 'user',
    scope: 'read',
    summary: 'Lists the libraries the caller can open, latest change first.',
    compatibility: 'supported',
    callers: 'every account',
    query: { type: typeQuery },
    responses: () => ({
      200: json(kinds.record('LibraryList', { repos: kinds.array(v21Library) }), 'The libraries.'),
      304: empty('The list has the tag that `If-None-Match` names.'),
    }),
    details: () => ({ requestHeaders: { 'If-None-Match': 'The `ETag` of an earlier response.' } }),
    async handle({ user, query, request }, services) {
      const { type } = query
      const wanted = { has: (relation: LibraryRelation) => type.length === 0 || type.includes(relation) }
      const { entries, parties } = await listLibraries(services, user, wanted)
      const stars = await starredLibraries(services.core, user)
      const monitored = await services.activity.monitored.list(user.key)
      const repos = entries.map((listed) =>
        libraryItemV21(listed, parties, {
          starred: stars.has(listed.library.id),
          monitored: monitored.has(listed.library.key),
          avatar: avatarUrl(request.baseUrl, listed.owner),
        }),
      )
      return jsonUnlessUnchanged(request, { repos })
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/',
    auth: 'user',
    summary: 'Creates a library, encrypted if the request has a password.',
    compatibility: 'supported',
    callers: 'every account',
    sample: { form: { repo_name: 'Mine' } },
    body: { repo_name: rawText(), name: rawText(), passwd: text() },
    faults: { 'role-forbids': () => [403, 'Permission denied.'] },
    responses: () => ({ 200: json(createdLibrarySchema, 'The new library.') }),
    details: () => ({
      parameters: {
        repo_name: { description: 'The name of the library. `name` does as well.' },
        passwd: { description: 'Encrypts the library with this password.' },
      },
    }),
    async handle({ user, body, request }, { core }) {
      const name = parseName(body.repo_name || body.name || '')
      if (name === undefined) throw errorMessage(400, 'repo_name invalid.')
      if (!roleAllows(user.role, 'add-library')) fail({ code: 'role-forbids', action: 'add-library' })
      const options = await optionsWithPassword(name, '', body.passwd)
      const library = await createLibrary(core, user, options, auditActor(user, request))
      return createdLibrary(library, user.email)
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/',
    auth: 'user',
    summary: 'Describes one library.',
    compatibility: 'supported',
    callers: 'readers',
    params,
    responses: () => ({ 200: json(v21Detail, 'The library.') }),
    async handle({ user, params, request }, { access, accounts, activity, core, quotas, shares }) {
      const library = await access.open(user, params.repo_id)
      const { ownerKey } = library.info
      const owner = ownerKey === user.key ? user : await accounts.findByKey(ownerKey)
      const room = await quotas.roomLeft(library.info)
      return libraryDetailV21(library, owner ? personOf(owner) : unknownPerson(''), {
        noQuota: room !== undefined && room.left <= 0,
        monitored: (await activity.monitored.list(user.key)).has(library.info.key),
        avatar: avatarUrl(request.baseUrl, owner),
        isOpen: await core.keys.isOpen(library),
        sharedOut: library.isAdmin && (await shares.on(library, ROOT)).length > 0,
      })
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/repos/:repo_id/',
    auth: 'user',
    summary: "Moves a library to its owner's deleted libraries. Idempotent.",
    compatibility: 'supported',
    callers: 'the owner',
    params,
    responses: () => ({
      200: [
        json(kinds.successWord, 'The library was deleted.'),
        json(kinds.successFlag, 'There is no such library any more.'),
      ],
    }),
    async handle({ user, params, request }, { access, core }) {
      if (!(await access.exists(params.repo_id))) return { success: true }
      const library = await access.openOwned(user, params.repo_id)
      if (library.info.status !== 'normal') fail({ code: 'permission-denied' })
      await deleteLibrary(core, library, auditActor(user, request))
      return 'success'
    },
  }),
]
