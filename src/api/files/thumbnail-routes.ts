import type { OpenLink } from '../../access/index.ts'
import { DomainError, fail } from '../../errors.ts'
import {
  addressKey,
  errorMessage,
  type HttpRequest,
  type HttpResponse,
  notFound,
  type Reader,
  Refusal,
  rawText,
  respondWith,
} from '../../http/index.ts'
import type { Account } from '../../identity/index.ts'
import type { Library } from '../../library/index.ts'
import { type FileDirent, type LibraryPath, parseLibraryId, parsePath } from '../../objects/index.ts'
import { hasThumbnail, thumbnailSizeFor } from '../../previews/index.ts'
import { accountRequester, visitorRequester } from '../../scheduling/index.ts'
import { libraryIdParam, sentPath } from '../common/readers.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { visit } from '../links/link-visits-v21.ts'
import { type ApiServices, route } from '../services.ts'
import { thumbnailSrc } from './thumbnail-url.ts'

const LARGEST_SIZE = 2048
const USUAL_SIZE = 256

/** A library's id, or the token of a share link. */
const whereParam: Reader<string> = (fields, name) => {
  const sent = fields.text(name) ?? ''
  return parseLibraryId(sent) ?? (isLinkToken(sent) ? sent : refuseUnknown())
}

/** A file somebody may see, with the library it is read from. */
interface Seen {
  readonly library: Library
  readonly entry: FileDirent
  /** What the slots are shared by. */
  readonly requester: string
}

export const thumbnailRoutes = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/thumbnail/',
    auth: 'user',
    summary: 'Sends a small JPEG of an image.',
    params: { repo_id: libraryIdParam },
    query: { p: sentPath, size: rawText() },
    faults: olderLibraryNotFound,
    async handle({ user, params, query, request }, services) {
      const library = await services.access.open(user, params.repo_id)
      if (!query.size) throw errorMessage(400, 'Size is missing.')
      const size = readSize(query.size) ?? refuse('Invalid size.')
      const entry = query.p?.path && (await library.tree.find(query.p.path))
      if (!entry || entry.kind !== 'file') return refuse('Wrong path.')
      if (!hasThumbnail(entry)) return refuse('Invalid argument')
      return image(services, request, { library, entry, requester: accountRequester(user.key) }, size)
    },
  }),
  waivedForLinks(
    route({
      method: 'GET',
      path: '/thumbnail/:where/create/',
      auth: 'user',
      summary: 'Makes the thumbnail of a file in a library, or below a share link, and says where it is.',
      params: { where: whereParam },
      query: { path: sentPath, size: rawText() },
      async handle({ user, params: { where }, query, request }, services) {
        const size = readSize(query.size || String(USUAL_SIZE)) ?? refuseHere(400, 'Invalid size.')
        const path = query.path?.path ?? refuseHere(400, 'Invalid arguments.')
        const seen = await see(services, request, user, { where, path, size })
        if (seen === undefined) return refuseHere(400, 'Invalid arguments.')
        await make(services, request, seen, size).catch(refuseToMake)
        return { encoded_thumbnail_src: thumbnailSrc(where, size, path, seen.entry) }
      },
    }),
  ),
  waivedForLinks(
    route({
      method: 'GET',
      path: '/thumbnail/:where/:size/',
      auth: 'user',
      summary: 'Sends the thumbnail of the file whose path follows, in a library or below a share link.',
      prefix: true,
      params: { where: whereParam, size: rawText() },
      faults: { 'thumbnail-failed': () => [404, 'Not found.'] },
      async handle({ user, params: { where, size: sent }, request }, services) {
        const size = readSize(sent ?? '') ?? refuseUnknown()
        const path = restOf(request.url) ?? refuseUnknown()
        const seen = (await see(services, request, user, { where, path, size })) ?? refuseUnknown()
        return image(services, request, seen, size)
      },
    }),
  ),
]

type ThumbnailRoute = ReturnType<typeof route>

/** Whoever holds a link needs no account; it is opened as any link is. */
function waivedForLinks(given: ThumbnailRoute): ThumbnailRoute {
  return { ...given, openTo: ({ url }) => isLinkToken(/^\/thumbnail\/([^/?]*)/.exec(url)?.[1] ?? '') }
}

/** The file at a path. Undefined if there is none; throws as Access and Links do. */
async function see(
  services: ApiServices,
  request: HttpRequest,
  user: Account | undefined,
  { where, path, size }: { where: string; path: LibraryPath; size: number },
): Promise<Seen | undefined> {
  const id = parseLibraryId(where)
  if (id === undefined) {
    const requester = user ? accountRequester(user.key) : visitorRequester(addressKey(request.address))
    return seeByLink(await visit(services, request, where, 'share'), path, size, requester)
  }
  if (user === undefined) return fail({ code: 'permission-denied' })
  const library = await services.access.open(user, id)
  const entry = await library.tree.find(path)
  return entry?.kind === 'file' ? { library, entry, requester: accountRequester(user.key) } : undefined
}

async function seeByLink(
  open: OpenLink,
  path: LibraryPath,
  size: number,
  requester: string,
): Promise<Seen | undefined> {
  if (size > open.largestPreview) fail({ code: 'permission-denied' })
  const found = await open.findFile(path)
  return found && { library: open.library, entry: found.entry, requester }
}

function make(
  { thumbnails }: ApiServices,
  { signal }: HttpRequest,
  { library, entry, requester }: Seen,
  size: number,
): Promise<Buffer> {
  return thumbnails.get(library, entry, size, { key: requester, signal })
}

async function image(
  services: ApiServices,
  request: HttpRequest,
  seen: Seen,
  size: number,
): Promise<HttpResponse> {
  const bytes = await make(services, request, seen, size)
  return respondWith(request, {
    size: bytes.length,
    contentType: 'image/jpeg',
    etag: `${seen.entry.id}-${thumbnailSizeFor(size)}`,
    lastModified: seen.entry.mtime,
    headers: { 'Cache-Control': 'private, max-age=3600' },
    async *read({ start, end }) {
      yield bytes.subarray(start, end)
    },
  })
}

/** What follows the size in the URL. */
function restOf(url: string): LibraryPath | undefined {
  const [, rest] = /^\/thumbnail\/[^/]+\/[^/]+(\/[^?]*)/.exec(url) ?? []
  try {
    return rest === undefined ? undefined : parsePath(decodeURIComponent(rest))
  } catch {
    return undefined
  }
}

function readSize(sent: string): number | undefined {
  const size = /^\d{1,5}$/.test(sent) ? Number(sent) : 0
  return size >= 1 && size <= LARGEST_SIZE ? size : undefined
}

function isLinkToken(text: string): boolean {
  return /^[a-f0-9]{8,35}$/.test(text)
}

function refuse(text: string): never {
  throw errorMessage(400, text)
}

function refuseUnknown(): never {
  throw notFound()
}

function refuseHere(status: number, error: string): never {
  throw new Refusal(status, { error })
}

function refuseToMake(error: unknown): never {
  if (!(error instanceof DomainError) || error.fault.code !== 'thumbnail-failed') throw error
  throw new Refusal(500, { err_msg: 'Failed to create thumbnail.' })
}
