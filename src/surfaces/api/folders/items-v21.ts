import { type LibraryId, parseLibraryId } from '../../../base/objects/index.ts'
import { type LibraryPath, parsePath, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { list } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import { route } from './services.ts'

const MAX_ITEMS = 200

export const itemRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/items/',
    auth: 'user',
    summary:
      'Describes libraries, folders and files by their paths. Those that are gone, or that the caller may not read, are left out.',
    compatibility: 'addition',
    body: { repo_ids: list(), paths: list() },
    responses: () => ({
      200: json(
        kinds.record('FoundItems', {
          items: kinds.array(
            kinds.record('FoundItem', {
              repo_id: kinds.libraryId,
              repo_name: kinds.text('The name of the library.'),
              repo_encrypted: kinds.flag(),
              path: kinds.path,
              is_dir: kinds.flag(),
              name: kinds.text('The name of the item, or of the library.'),
              mtime: kinds.isoTime,
            }),
          ),
        }),
        'Those that exist, in the order of the request.',
      ),
    }),
    details: () => ({
      parameters: {
        repo_ids: { description: 'The ids of the libraries, at most 200.' },
        paths: {
          description: 'As many paths, each in the library of the same position. `/` is the library.',
        },
      },
    }),
    async handle({ user, body }, { access }) {
      const places = readPlaces(body.repo_ids, body.paths)
      const libraries = await access.openAll(user, [...new Set(places.map(({ id }) => id))])
      const items: object[] = []
      for (const { id, path } of places) {
        const library = libraries.get(id)
        const item = library && (await itemAt(library, path))
        if (item !== undefined) items.push(item)
      }
      return { items }
    },
  }),
]

/** What cannot exist is left out like what is gone. */
function readPlaces(
  ids: readonly string[],
  paths: readonly string[],
): readonly { readonly id: LibraryId; readonly path: LibraryPath }[] {
  if (ids.length !== paths.length) throw errorMessage(400, 'repo_ids and paths differ in length.')
  if (ids.length > MAX_ITEMS) throw errorMessage(400, `More than ${MAX_ITEMS} items.`)
  return ids.flatMap((sent, index) => {
    const id = parseLibraryId(sent)
    const path = parsePath(paths[index] ?? '')
    return id === undefined || path === undefined ? [] : [{ id, path }]
  })
}

async function itemAt({ info, tree }: Library, path: LibraryPath): Promise<object | undefined> {
  const about = {
    repo_id: info.id,
    repo_name: info.name,
    repo_encrypted: info.encryption !== undefined,
    path,
  }
  if (path === ROOT) return { ...about, is_dir: true, name: info.name, mtime: isoTime(info.updatedAt) }
  const entry = await tree.find(path)
  return entry && { ...about, is_dir: entry.kind === 'dir', name: entry.name, mtime: isoTime(entry.mtime) }
}
