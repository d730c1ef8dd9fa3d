import { parseLibraryId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import {
  LibraryHistory,
  type MergedTrashCursor,
  type MergedTrashItem,
} from '../../../libraries/history/index.ts'
import { type Reader, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { deleted } from './library-trash.schema.ts'
import { route } from './services.ts'
import { trashItem } from './trash-wire.ts'

const ITEMS_PER_PAGE = 50

/** Where the next page begins, as an earlier page said. */
const cursor: Reader<MergedTrashCursor | undefined> = (fields, name) => {
  const sent = fields.text(name)
  if (!sent) return undefined
  const [, deletedAt, library = '', seq, position] =
    /^(\d{1,15})_([0-9a-f-]{36})_(\d{1,15})_(\d{1,15})$/.exec(sent) ?? []
  const libraryId = parseLibraryId(library)
  if (libraryId === undefined) throw errorMessage(400, `${name} invalid.`)
  return { deletedAt: Number(deletedAt), libraryId, seq: Number(seq), position: Number(position) }
}

export const mergedTrashRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/trash/',
    auth: 'user',
    summary: 'Lists deleted entries of all libraries the caller can open, latest first.',
    compatibility: 'addition',
    callers: 'every account',
    query: { cursor, q: rawText() },
    responses: () => ({
      200: json(
        kinds.record('MergedTrash', {
          items: kinds.array(
            kinds.object({
              ...deleted,
              repo_id: kinds.libraryId,
              repo_name: kinds.text('The name of the library.'),
              can_restore: kinds.flag('Whether the caller may restore it.'),
            }),
          ),
          next_cursor: kinds.orNull(kinds.text('Where the next page begins.')),
        }),
        'A page of deleted entries of all libraries, latest first.',
      ),
    }),
    async handle({ user, query }, services) {
      const name = query.q?.trim()
      if (name?.includes('\0')) throw errorMessage(400, 'q invalid.')
      const openable = await services.access.listOpenable(user)
      const writable = new Set(
        openable.filter(({ permission }) => permission === 'rw').map(({ info }) => info.id),
      )
      const page = { cursor: query.cursor, name: name || undefined, limit: ITEMS_PER_PAGE }
      const { items, next } = await LibraryHistory.mergedTrash(
        openable.map(({ history }) => history),
        page,
      )
      return {
        items: items.map((item) => mergedItem(item, writable.has(item.library.id))),
        next_cursor: next ? [next.deletedAt, next.libraryId, next.seq, next.position].join('_') : null,
      }
    },
  }),
]

function mergedItem({ library, row }: MergedTrashItem, canRestore: boolean) {
  return { ...trashItem(row), repo_id: library.id, repo_name: library.name, can_restore: canRestore }
}
