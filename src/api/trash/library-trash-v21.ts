import { fail } from '../../errors.ts'
import { errorMessage, integer, optional, type Reader, rawText, type Values } from '../../http/index.ts'
import type { Account } from '../../identity/index.ts'
import { emptyTrash } from '../../library/index.ts'
import type { LibraryId } from '../../objects/index.ts'
import { libraryDeed, noting } from '../common/audit.ts'
import { parseWhole } from '../common/parse-values.ts'
import { libraryIdParam, sentPathOrRoot } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { type ApiServices, route } from '../services.ts'
import { parseTrashCursor, trashPage } from './trash-wire.ts'

/** A number of days; what is no number means 0, and a negative one is refused. */
const days: Reader<number> = (fields, name) => {
  const value = parseWhole(fields.text(name)) ?? 0
  if (value < 0) throw errorMessage(400, `${name} invalid.`)
  return value
}

const listing = { path: sentPathOrRoot, show_days: days, scan_stat: rawText() }
const keptDays = { keep_days: optional(integer({ min: 0 })) }

const path = '/api/v2.1/repos/:repo_id/trash/'
const params = { repo_id: libraryIdParam }
const summary = 'Lists what was deleted below a folder, latest first.'

export const libraryTrashRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary,
    params,
    query: listing,
    handle: ({ user, params, query }, services) => listTrash(user, params.repo_id, query, services),
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    scope: 'read',
    summary,
    params,
    body: listing,
    handle: ({ user, params, body }, services) => listTrash(user, params.repo_id, body, services),
  }),
  route({
    method: 'DELETE',
    path,
    auth: 'user',
    summary: 'Empties the trash, and hides the history that led to it; `keep_days` spares what is newer.',
    params,
    // Days in the wrong place must not count as none: that would take more than was asked for.
    query: keptDays,
    body: keptDays,
    async handle({ user, params, query, body, request }, { access, audit, core }) {
      const library = await access.openAdministered(user, params.repo_id)
      // It would hide the history of folders the holder cannot see.
      if (library.info.sub !== undefined) fail({ code: 'permission-denied' })
      const days = body.keep_days ?? query.keep_days ?? 0
      const deed = libraryDeed('trash-cleaned', library.info, { keptDays: days })
      await emptyTrash(core, library, days, noting({ audit }, { user, request }, deed))
      return { success: true }
    },
  }),
]

async function listTrash(
  user: Account,
  id: LibraryId,
  asked: Values<typeof listing>,
  { access, core }: ApiServices,
) {
  const library = await access.open(user, id)
  const { path: folder } = await folderAt(library, asked.path)
  // A form sends the null that an earlier answer ended with as this word.
  const sent = asked.scan_stat === 'null' ? undefined : asked.scan_stat || undefined
  const cursor = sent === undefined ? undefined : parseTrashCursor(sent)
  if (sent !== undefined && cursor === undefined) throw errorMessage(500, 'Internal Server Error')
  return trashPage(
    await core.history.listTrashPage(library.info, { folder, showDays: asked.show_days, cursor }),
  )
}
