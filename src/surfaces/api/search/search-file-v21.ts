import { fail } from '../../../base/errors.ts'
import { type LibraryId, parseLibraryId } from '../../../base/objects/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { map, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { readableOf } from '../../../sharing/access/index.ts'
import { foundNames } from './search.schema.ts'
import { searchText } from './search-input.ts'
import { foundNameToWire } from './search-wire.ts'
import { route, type SearchServices } from './services.ts'

// The call has no paging, so the number of results is limited.
const MAX_FOUND = 5000

/** Text of the length of a library id. It is looked up later. */
const sentLibraryId = map(rawText(), (sent) => (sent?.length === 36 ? sent.toLowerCase() : undefined))

export const searchFileRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/search-file/',
    auth: 'user',
    summary: 'Searches files and folders of one library by part of their name.',
    compatibility: 'supported',
    query: { repo_id: sentLibraryId, q: searchText },
    responses: () => ({ 200: foundNames }),
    async handle({ user, query }, services) {
      if (query.q === '') throw errorMessage(400, 'q invalid.')
      const id = parseLibraryId(query.repo_id) ?? fail({ code: 'library-not-found', id: query.repo_id })
      return findNames(services, user, id, query.q)
    },
  }),
]

/** Entries of a library whose name contains `text`. Throws library-not-found, permission-denied. */
export async function findNames(
  { access, search }: Pick<SearchServices, 'access' | 'search'>,
  user: Account,
  id: LibraryId,
  text: string,
) {
  const within = [readableOf(await access.open(user, id))]
  const { found } = await search.find({
    text,
    within,
    filters: {},
    where: 'part',
    order: 'listing',
    offset: 0,
    limit: MAX_FOUND,
  })
  return { data: found.map(foundNameToWire) }
}
