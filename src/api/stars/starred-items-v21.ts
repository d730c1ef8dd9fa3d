import { fail } from '../../errors.ts'
import { map, rawText } from '../../http/index.ts'
import { personOf } from '../../identity/index.ts'
import { addStar, removeStar } from '../../library/index.ts'
import { parseLibraryId, ROOT } from '../../objects/index.ts'
import { requiredPath } from '../common/readers.ts'
import { route } from '../services.ts'
import { type Starred, starredItemToWire } from './star-wire.ts'
import { listStarred } from './starred-entries.ts'

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
    body: { repo_id: sentLibraryId, path: requiredPath() },
    faults: itemNotFound,
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
    query: { repo_id: sentLibraryId, path: requiredPath() },
    faults: itemNotFound,
    async handle({ user, query }, { core }) {
      const id = parseLibraryId(query.repo_id)
      const { path, text } = query.path
      const removed = id && path && (await removeStar(core, user, id, path))
      if (!removed) fail({ code: 'path-not-found', path: text, wanted: 'Item' })
      return { success: true }
    },
  }),
]

/** Libraries come first, then folders, then files. */
function rank({ path, isDir }: Starred): number {
  if (path === ROOT) return 0
  return isDir ? 1 : 2
}
