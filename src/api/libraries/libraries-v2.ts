import { fail } from '../../errors.ts'
import { errorMessage, jsonResponse, type Reader, rawText, text } from '../../http/index.ts'
import { canAddLibrary } from '../../identity/index.ts'
import { createLibrary, deleteLibrary } from '../../library/index.ts'
import { parseName } from '../../objects/index.ts'
import { libraryDeed, noting } from '../common/audit.ts'
import { denied } from '../common/fault-messages.ts'
import { parseText } from '../common/parse-values.ts'
import { libraryIdParam } from '../common/readers.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { route } from '../services.ts'
import { listLibraries, type Way } from './library-list.ts'
import { libraryDetail, libraryItem, NO_ACCESS, syncInfo } from './library-wire.ts'
import { wishWithEncryption, wishWithPassword } from './new-library.ts'

/** The words of a comma-separated list; undefined when nothing was sent, which means all. */
const words: Reader<Set<string> | undefined> = (fields, name) => {
  const sent = fields.text(name)
  return sent ? new Set(sent.split(',').map((word) => word.trim())) : undefined
}

// Said whether or not a caller has any encrypted library: clients offer to make one if it is True.
const listHeaders = { enable_encrypted_library: 'True' }

const id = { repo_id: libraryIdParam }

export const libraryRoutes = [
  route({
    method: 'GET',
    path: '/api2/repos/',
    auth: 'user',
    scope: 'read',
    summary: 'Lists the libraries the caller can open, newest change first.',
    query: { type: words, nameContains: rawText() },
    async handle({ user, query }, services) {
      const { type } = query
      // Everyone's libraries are called those of the organization here.
      const wanted = { has: (way: Way) => type?.has(way === 'public' ? 'org' : way) ?? true }
      const { entries, parties } = await listLibraries(services, user, wanted, query.nameContains)
      const time = services.now()
      return jsonResponse(
        200,
        entries.map((listed) => libraryItem(listed, parties, time)),
        listHeaders,
      )
    },
  }),
  route({
    method: 'POST',
    path: '/api2/repos/',
    auth: 'user',
    summary: 'Makes a library: plain, encrypted with a password, or encrypted with values the client made.',
    query: { from: rawText() },
    body: {
      name: rawText(),
      desc: rawText(),
      // What cannot be read must not count as absent: the library would be made without encryption.
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
      const wish =
        body.repo_id === ''
          ? await wishWithPassword(name, description, body.passwd)
          : wishWithEncryption(name, description, body)
      const byWeb = query.from === 'web' || body.from === 'web'
      let syncToken = ''
      const library = await createLibrary(core, user, wish, async (tx, made) => {
        if (!byWeb) syncToken = await syncTokens.issueIn(tx, made, user)
        await noting({ audit }, { user, request }, libraryDeed('library-made', made))(tx)
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
    faults: { ...olderLibraryNotFound, ...denied(NO_ACCESS) },
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
      const deed = libraryDeed('library-deleted', library.info)
      await deleteLibrary(services.core, library, noting(services, { user, request }, deed))
      return 'success'
    },
  }),
]
