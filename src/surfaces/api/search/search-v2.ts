import { fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import type { LibraryPath } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { parseAnnotationQuery } from '../../../derived/annotations/index.ts'
import {
  type Account,
  emailAsShown,
  type Person,
  parseEmail,
  personOf,
} from '../../../people/accounts/index.ts'
import { flag, optionalText, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { type OwnedReadables, type Readable, readableOf } from '../../../sharing/access/index.ts'
import { type SentPath, sentPath } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { findByAnnotations, findWithComments } from './annotation-results.ts'
import { searchResult } from './search.schema.ts'
import { anyCase, filtersOf, searchFilters, searchPage, searchPlace, searchText } from './search-input.ts'
import { searchResultToWire } from './search-wire.ts'
import { route, type SearchServices } from './services.ts'

interface Place {
  readonly search_repo: string
  readonly search_path: SentPath | undefined
  readonly shared_from: string | undefined
  readonly not_shared_from: string | undefined
}

export const searchRoutes = [
  route({
    method: 'GET',
    path: '/api2/search/',
    auth: 'user',
    // Every place searched comes from `access`, which leaves out what the token does not reach.
    scope: 'read',
    summary:
      'Searches files and folders by name, text and comments in all libraries the caller may read; with `tag:name` or `comment:word` files by these.',
    compatibility: {
      result: 'different',
      note: 'Always available. Quotes, `-word`, prefixes, `tag:` and `comment:` work.',
    },
    callers: 'every account',
    sample: { query: { q: 'in' } },
    query: {
      ...searchFilters,
      q: searchText,
      page: rawText(),
      per_page: rawText(),
      search_repo: searchPlace,
      search_path: sentPath,
      with_permission: anyCase(['true', 'false']),
      search_filename_only: flag({ default: false, lenient: true }),
      shared_from: optionalText(),
      not_shared_from: optionalText(),
    },
    responses: () => ({
      200: json(
        kinds.record('SearchPage', {
          total: kinds.count('The number of results on all pages.'),
          total_is_minimum: kinds.optional(
            kinds.flag(
              'Set if results are not counted, because there are more than 1,000: `total` is at least 1,001.',
            ),
          ),
          has_more: kinds.flag('Whether there is another page.'),
          results: kinds.array(searchResult),
        }),
        'A page of results, best first.',
      ),
    }),
    details: () => ({
      parameters: {
        q: { required: true, description: 'The words to search for.' },
        search_path: { description: 'Only below this folder, if `search_repo` is the id of a library.' },
        search_ftypes: { description: '`custom` applies `ftype` and `input_fexts`.' },
        ftype: { description: 'Kinds of files, such as `Document` or `Image`.' },
        input_fexts: { description: 'Extensions, separated by commas.' },
        time_from: { description: 'Changed since, in Unix seconds.' },
        time_to: { description: 'Changed until, in Unix seconds.' },
        size_from: { description: 'At least this size in bytes.' },
        size_to: { description: 'At most this size in bytes.' },
        page: { description: 'Counted from 1.' },
        per_page: { description: 'Default: 10, at most 100.' },
        with_permission: { description: 'Adds `permission` to the results.' },
        shared_from: { description: 'Only what this account shared, if `search_repo` is `shared`.' },
        not_shared_from: { description: 'Not what this account shared, if `search_repo` is `shared`.' },
      },
    }),
    async handle({ user, query, request }, services) {
      if (query.q === '') throw errorMessage(400, 'Missing argument q.')
      const { offset, limit } = searchPage(query)
      const { within, owned, folder, inOneLibrary } = await placeOf(user, query, services)
      const wanted = { within, owned, folder, filters: filtersOf(query), offset, limit }
      const { total, isMinimum, found } = await findAll(services, query.q, wanted, query.search_filename_only)
      const owners = await ownersOf(
        services,
        found.map((one) => one.in.ownerKey),
      )
      const authors = await services.directory.people(found.flatMap(({ comment }) => comment?.author ?? []))
      const options = {
        authors,
        inOneLibrary,
        withPermission: query.with_permission === 'true',
        baseUrl: request.baseUrl,
      }
      return {
        total,
        ...(isMinimum && { total_is_minimum: true }),
        has_more: total > offset + limit,
        results: found.map((one) => searchResultToWire(one, owners.get(one.in.ownerKey), options)),
      }
    },
  }),
]

/** A page of results: by tags and comments if the text names them, else by names, texts and words of comments. */
async function findAll(
  services: SearchServices,
  text: string,
  wanted: Parameters<typeof findByAnnotations>[2],
  namesOnly: boolean,
): ReturnType<typeof findByAnnotations> {
  const annotated = parseAnnotationQuery(text)
  if (annotated !== undefined) return findByAnnotations(services, annotated, wanted)
  const where = namesOnly ? 'names' : 'everywhere'
  const indexed = await services.search.find({ ...wanted, text, where, order: 'rank' })
  return namesOnly ? indexed : findWithComments(services, text, wanted, indexed)
}

/** The scope of a search within the readable libraries. Throws library-not-found, permission-denied, path-not-found. */
async function placeOf(
  user: Account,
  sent: Place,
  services: SearchServices,
): Promise<{ within: Readable[]; owned?: OwnedReadables; folder?: LibraryPath; inOneLibrary: boolean }> {
  const { access } = services
  const { search_repo: place, search_path: path } = sent
  if (place.length !== 36) {
    if (path !== undefined) throw errorMessage(400, 'search_repo invalid.')
    const owned = ['all', 'mine'].includes(place) ? await access.owned(user) : undefined
    if (place === 'mine') return { within: [], ...(owned && { owned }), inOneLibrary: false }
    const granted = [...(await access.listGranted(user)), ...(await access.listGrantedFiles(user))]
    const within = granted.filter(({ via }) => place === 'all' || via === place)
    return {
      within: place === 'shared' ? await sharedBy(within, sent, services) : within,
      ...(owned && { owned }),
      inOneLibrary: false,
    }
  }
  const id = parseLibraryId(place) ?? fail({ code: 'library-not-found', id: place })
  const library = await access.open(user, id)
  const folder = path && (await folderAt(library, path)).path
  return { within: [readableOf(library)], ...(folder && { folder }), inOneLibrary: true }
}

/** Restricts the scope to shares of one account, or excludes them. An unknown account shares nothing. */
async function sharedBy(
  within: readonly Readable[],
  { shared_from, not_shared_from }: Place,
  { accounts }: SearchServices,
): Promise<Readable[]> {
  const keyOf = async (sent: string) => {
    const email = parseEmail(sent)
    return email === undefined ? undefined : (await accounts.find(email))?.key
  }
  const only = shared_from ? ((await keyOf(shared_from)) ?? -1) : undefined
  const but = not_shared_from ? await keyOf(not_shared_from) : undefined
  return within.filter(({ ownerKey }) => (only === undefined || ownerKey === only) && ownerKey !== but)
}

/** The owners of libraries, by key. */
async function ownersOf({ accounts }: SearchServices, keys: Iterable<number>): Promise<Map<number, Person>> {
  const owners = new Map<number, Person>()
  for (const key of new Set(keys)) {
    const account = await accounts.findByKey(key)
    if (account !== undefined) owners.set(key, personOf({ ...account, email: emailAsShown(account.email) }))
  }
  return owners
}
