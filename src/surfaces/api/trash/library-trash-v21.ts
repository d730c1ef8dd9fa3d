import { fail } from '../../../base/errors.ts'
import type { LibraryId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { emptyTrash } from '../../../libraries/library/index.ts'
import { type Account, auditActor } from '../../../people/accounts/index.ts'
import {
  accepting,
  integer,
  optional,
  type Reader,
  rawText,
  type Values,
} from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { parseInteger } from '../common/parse-values.ts'
import { libraryIdParam, sentPathOrRoot } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { parameters, trashPage as trashPageSchema } from './library-trash.schema.ts'
import { route, type TrashServices } from './services.ts'
import { parseTrashCursor, trashPage } from './trash-wire.ts'

/** A number of days. A malformed value means 0; a negative one is rejected. */
const days: Reader<number> = accepting(
  { type: 'integer', minimum: 0, default: 0, lenient: true },
  (fields, name) => {
    const value = parseInteger(fields.text(name)) ?? 0
    if (value < 0) throw errorMessage(400, `${name} invalid.`)
    return value
  },
)

const listing = { path: sentPathOrRoot, show_days: days, scan_stat: rawText() }
const keptDays = { keep_days: optional(integer({ min: 0 })) }

const path = '/api/v2.1/repos/:repo_id/trash/'
const params = { repo_id: libraryIdParam }
const summary = 'Lists deleted entries below a folder, latest first.'

export const libraryTrashRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary,
    compatibility: {
      result: 'different',
      note: 'A path that cannot exist is 404, not 500. A folder has the size 0.',
    },
    callers: 'readers',
    params,
    query: listing,
    responses: () => ({ 200: json(trashPageSchema, 'A page of deleted entries, latest first.') }),
    details: () => ({ parameters }),
    handle: ({ user, params, query }, services) => listTrash(user, params.repo_id, query, services),
  }),
  route({
    method: 'POST',
    path,
    auth: 'user',
    scope: 'read',
    summary,
    compatibility: 'supported',
    callers: 'readers',
    params,
    body: listing,
    responses: () => ({ 200: json(trashPageSchema, 'A page of deleted entries, latest first.') }),
    details: () => ({ parameters }),
    handle: ({ user, params, body }, services) => listTrash(user, params.repo_id, body, services),
  }),
  route({
    method: 'DELETE',
    path,
    auth: 'user',
    summary: 'Empties the trash and hides the history before it; entries newer than `keep_days` are kept.',
    compatibility: 'supported',
    callers: 'managers',
    sample: { query: { keep_days: 0 } },
    params,
    // `keep_days` in the wrong place must not count as absent, or more would be deleted than requested.
    query: keptDays,
    body: keptDays,
    responses: () => ({ 200: json(kinds.successFlag, 'The trash was emptied.') }),
    details: () => ({ parameters: { keep_days: { description: 'Keeps what was deleted in these days.' } } }),
    async handle({ user, params, query, body, request }, { access, core }) {
      const library = await access.openAdministered(user, params.repo_id)
      // Emptying the trash would hide the history of folders that a scoped token cannot read.
      if (library.info.sub !== undefined) fail({ code: 'permission-denied' })
      const days = body.keep_days ?? query.keep_days ?? 0
      await emptyTrash(core, library, days, auditActor(user, request))
      return { success: true }
    },
  }),
]

async function listTrash(
  user: Account,
  id: LibraryId,
  asked: Values<typeof listing>,
  { access }: TrashServices,
) {
  const library = await access.open(user, id)
  const { path: folder } = await folderAt(library, asked.path)
  // Forms send the null of an earlier response as this text.
  const sent = asked.scan_stat === 'null' ? undefined : asked.scan_stat || undefined
  const cursor = sent === undefined ? undefined : parseTrashCursor(sent)
  if (sent !== undefined && cursor === undefined) throw errorMessage(500, 'Internal Server Error')
  return trashPage(await library.history.listTrashPage({ folder, showDays: asked.show_days, cursor }))
}
