import { fail } from '../../../base/errors.ts'
import { parseName } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { createLibrary } from '../../../libraries/library/index.ts'
import { auditActor, roleAllows } from '../../../people/accounts/index.ts'
import { rawText, text } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse } from '../../../platform/responses/index.ts'
import { parseText } from '../common/parse-values.ts'
import { formatSize, relativeTime } from '../common/wire-formats.ts'
import { syncInfo as syncInfoDescribed } from '../libraries/libraries.schema.ts'
import { listLibraries } from '../libraries/library-list.ts'
import { syncInfo } from '../libraries/library-wire.ts'
import { optionsWithPassword } from '../libraries/new-library.ts'
import { route } from './services.ts'
import { publicLibrary } from './shares.schema.ts'

const path = '/api2/repos/public/'

export const publicLibraryRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Lists the libraries shared with everyone.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({ 200: json(kinds.array(publicLibrary), 'The libraries.') }),
    async handle({ user }, services) {
      if (!roleAllows(user.role, 'see-public-libraries')) {
        throw errorMessage(403, 'You do not have permission to view public libraries.')
      }
      const { entries } = await listLibraries(services, user, new Set(['public'] as const))
      const now = services.now()
      return entries.map(({ library, owner, shared }) => ({
        id: library.id,
        name: library.name,
        owner: owner.email,
        owner_nickname: owner.name,
        owner_name: owner.name,
        mtime: library.updatedAt,
        mtime_relative: relativeTime(library.updatedAt, now),
        size: library.size,
        size_formatted: formatSize(library.size),
        encrypted: library.encrypted,
        permission: shared?.permission ?? 'r',
      }))
    },
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    summary: 'Creates a library and shares it with everyone.',
    compatibility: 'supported',
    callers: 'administrators',
    sample: { form: { name: 'For all', permission: 'r' } },
    body: { name: rawText(), desc: rawText(), passwd: text(), permission: rawText() },
    responses: () => ({ 201: json(syncInfoDescribed, 'The new library.') }),
    details: () => ({
      parameters: {
        name: { required: true, description: 'The name of the library.' },
        desc: { description: 'A description.' },
        passwd: { description: 'Encrypts the library with this password.' },
        permission: { description: 'What everyone may do: `r` or `rw`. Default: `rw`.' },
      },
    }),
    async handle({ user, body, request }, services) {
      const { core, syncTokens, now } = services
      if (!roleAllows(user.role, 'add-library')) fail({ code: 'role-forbids', action: 'add-library' })
      if (!roleAllows(user.role, 'publish-library')) fail({ code: 'role-forbids', action: 'publish-library' })
      const name = parseName(body.name ?? '') ?? fail({ code: 'name-invalid', name: body.name ?? '' })
      const permission = body.permission || 'rw'
      if (permission !== 'r' && permission !== 'rw') throw errorMessage(400, 'Invalid permission')
      const description = parseText(body.desc ?? '')
      if (description === undefined) throw errorMessage(400, 'desc invalid.')
      const options = await optionsWithPassword(name, description, body.passwd)
      const by = auditActor(user, request)
      const share = { recipient: { to: 'everyone' }, permission } as const
      let syncToken = ''
      const library = await createLibrary(core, user, options, by, async (tx, made) => {
        await services.shares.shareNew(tx, made, user, share, by)
        syncToken = await syncTokens.issueIn(tx, made, user)
      })
      return jsonResponse(
        201,
        syncInfo(library, { email: user.email, permission: 'rw', syncToken, now: now() }),
      )
    },
  }),
]
