import { fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import { ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { addStar, removeStar } from '../../../libraries/attributes/index.ts'
import { personOf } from '../../../people/accounts/index.ts'
import { map, rawText } from '../../../platform/input/index.ts'
import { requiredPath } from '../common/readers.ts'
import { route } from './services.ts'
import { type Starred, starredItemToWire } from './star-wire.ts'
import { listStarred } from './starred-entries.ts'
import { starredItem } from './stars.schema.ts'

const sentLibraryId = map(rawText(), (sent) => sent || undefined)

const itemNotFound = {
  'path-not-found': ({ path }: { path: string }): [number, string] => [404, `Item ${path} not found.`],
}

export const starredItemRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/starred-items/',
    auth: 'user',
    summary: 'Lists the libraries, folders and files the caller starred.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({
      200: json(
        kinds.record('StarredItems', { starred_item_list: kinds.array(starredItem) }),
        'Libraries first, then folders, then files.',
      ),
    }),
    async handle({ user }, services) {
      const starred = await listStarred(services, user)
      const ranked = starred.sort((a, b) => rank(a) - rank(b))
      const person = personOf(user)
      return { starred_item_list: ranked.map((one) => starredItemToWire(one, person)) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/starred-items/',
    auth: 'user',
    summary: 'Stars a library, folder or file.',
    compatibility: 'supported',
    body: { repo_id: sentLibraryId, path: requiredPath() },
    faults: itemNotFound,
    responses: () => ({ 200: json(starredItem, 'The item.') }),
    async handle({ user, body }, { access, core }) {
      const id = parseLibraryId(body.repo_id) ?? fail({ code: 'library-not-found', id: body.repo_id })
      const library = await access.open(user, id)
      const { path, text } = body.path
      const entry = path && (await library.tree.find(path))
      if (path === undefined || (entry === undefined && path !== ROOT)) {
        return fail({ code: 'path-not-found', path: text, wanted: 'Item' })
      }
      const isDir = entry?.kind !== 'file'
      await addStar(core, library, path, isDir)
      return starredItemToWire({ library, path, isDir, entry }, personOf(user))
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/starred-items/',
    auth: 'user',
    summary: 'Removes a star.',
    compatibility: 'supported',
    query: { repo_id: sentLibraryId, path: requiredPath() },
    faults: itemNotFound,
    responses: () => ({ 200: json(kinds.successFlag, 'The star was removed.') }),
    async handle({ user, query }, { core }) {
      const id = parseLibraryId(query.repo_id)
      const { path, text } = query.path
      const removed = id && path && (await removeStar(core, user, id, path))
      if (!removed) fail({ code: 'path-not-found', path: text, wanted: 'Item' })
      return { success: true }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/starred-items/clean-invalid/',
    auth: 'user',
    summary: 'Removes the stars of items that are gone, and returns how many there were.',
    compatibility: 'addition',
    callers: 'every account',
    responses: () => ({
      200: json(
        kinds.record('CleanedStars', {
          success: kinds.literal(true),
          removed: kinds.count('The number of stars that were removed.'),
        }),
        'The stars of items that exist remain.',
      ),
    }),
    async handle({ user }, services) {
      const gone = (await listStarred(services, user)).filter(
        ({ path, entry }) => path !== ROOT && entry === undefined,
      )
      let removed = 0
      for (const { library, path } of gone) {
        if (await removeStar(services.core, user, library.info.id, path)) removed += 1
      }
      return { success: true, removed }
    },
  }),
]

/** Libraries come first, then folders, then files. */
function rank({ path, isDir }: Starred): number {
  if (path === ROOT) return 0
  return isDir ? 1 : 2
}
