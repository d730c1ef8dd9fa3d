import { type OwnedReadables, type Readable, readableOf } from '../../access/index.ts'
import { parseAnnotationQuery } from '../../annotations/index.ts'
import { fail } from '../../errors.ts'
import { errorMessage, flag, optionalText, rawText } from '../../http/index.ts'
import { type Account, parseEmail } from '../../identity/index.ts'
import { type LibraryPath, parseLibraryId } from '../../objects/index.ts'
import { type SentPath, sentPath } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { ownersOf } from '../libraries/library-owners.ts'
import { type ApiServices, route } from '../services.ts'
import { findByAnnotations, findWithComments } from './annotation-results.ts'
import { anyCase, filtersOf, searchFilters, searchPage, searchPlace, searchText } from './search-input.ts'
import { searchResultToWire } from './search-wire.ts'

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
  services: ApiServices,
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
  services: ApiServices,
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
  { accounts }: ApiServices,
): Promise<Readable[]> {
  const keyOf = async (sent: string) => {
    const email = parseEmail(sent)
    return email === undefined ? undefined : (await accounts.find(email))?.key
  }
  const only = shared_from ? ((await keyOf(shared_from)) ?? -1) : undefined
  const but = not_shared_from ? await keyOf(not_shared_from) : undefined
  return within.filter(({ ownerKey }) => (only === undefined || ownerKey === only) && ownerKey !== but)
}
