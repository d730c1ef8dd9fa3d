import { DomainError, fail } from '../../../base/errors.ts'
import { type FileDirent, parseLibraryId } from '../../../base/objects/index.ts'
import { type LibraryPath, parsePath } from '../../../base/paths/index.ts'
import { accountRequester, visitorRequester } from '../../../base/scheduling/index.ts'
import { empty, json, kinds, rangeRequestHeaders } from '../../../base/schemas/index.ts'
import { alwaysHasThumbnail, hasThumbnail, thumbnailSizeFor } from '../../../derived/previews/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { addressKey, type HttpRequest } from '../../../platform/http/index.ts'
import { type Reader, rawText } from '../../../platform/input/index.ts'
import { respondWith } from '../../../platform/representations/index.ts'
import {
  errorMessage,
  type HttpResponse,
  notFound,
  Refusal,
  rawResponse,
} from '../../../platform/responses/index.ts'
import type { OpenLink } from '../../../sharing/access/index.ts'
import { libraryIdParam, sentPath } from '../common/readers.ts'
import { thumbnailUrl } from '../common/thumbnail-url.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { visit } from '../links/link-visits-v21.ts'
import { thumbnail, thumbnailSize } from './files.schema.ts'
import { type FileServices, route } from './services.ts'

const MAX_SIZE = 2048
const DEFAULT_SIZE = 256

/** A library's id, or the token of a share link. */
const whereParam: Reader<string> = (fields, name) => {
  const sent = fields.text(name) ?? ''
  return parseLibraryId(sent) ?? (isLinkToken(sent) ? sent : refuseUnknown())
}

/** A file the caller may see, and its library. */
interface ResolvedFile {
  readonly library: Library
  readonly entry: FileDirent
  /** The key of the fair semaphore. */
  readonly requester: string
}

export const thumbnailRoutes = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/thumbnail/',
    auth: 'user',
    summary:
      'Sends a small JPEG of a file: an image, a drawing, the first page of a PDF, a cover, or the preview in a document.',
    compatibility: { result: 'different', note: 'Also of documents, drawings and videos with a poster.' },
    params: { repo_id: libraryIdParam },
    query: { p: sentPath, size: rawText() },
    faults: olderLibraryNotFound,
    responses: () => ({ ...thumbnail, 204: empty('The file contains no picture.') }),
    details: () => ({
      errors: [422],
      requestHeaders: rangeRequestHeaders,
      parameters: { p: { required: true }, size: { required: true, ...thumbnailSize } },
    }),
    async handle({ user, params, query, request }, services) {
      const library = await services.access.open(user, params.repo_id)
      if (!query.size) throw errorMessage(400, 'Size is missing.')
      const size = readSize(query.size) ?? refuse('Invalid size.')
      const entry = query.p?.path && (await library.tree.find(query.p.path))
      if (!entry || entry.kind !== 'file') return refuse('Wrong path.')
      if (!hasThumbnail(entry)) return refuse('Invalid argument')
      const file = { library, entry, requester: accountRequester(user.key) }
      if (alwaysHasThumbnail(entry)) return image(services, request, file, size)
      return image(services, request, file, size).catch(noContentIfFailed)
    },
  }),
  openToLinkHolders(
    route({
      method: 'GET',
      path: '/thumbnail/:where/create/',
      auth: 'user',
      summary: 'Creates the thumbnail of a file in a library or below a share link, and returns its URL.',
      params: { where: whereParam },
      query: { path: sentPath, size: rawText() },
      responses: () => ({
        200: json(
          kinds.record('ThumbnailPath', { encoded_thumbnail_src: kinds.text('The path of the thumbnail.') }),
          'The thumbnail.',
        ),
        400: json(
          kinds.record('ThumbnailRefusal', { error: kinds.text('Why it was refused.') }),
          'The size or the path is invalid.',
        ),
        422: json(
          kinds.record('ThumbnailFailure', { err_msg: kinds.text('What failed.') }),
          'The thumbnail could not be created.',
        ),
      }),
      details: () => ({
        parameters: {
          where: {
            description: 'The id of a library, or the token of a share link, which needs no account.',
          },
          path: { required: true },
          size: thumbnailSize,
        },
      }),
      async handle({ user, params: { where }, query, request }, services) {
        const size = readSize(query.size || String(DEFAULT_SIZE)) ?? refuseWithError(400, 'Invalid size.')
        const path = query.path?.path ?? refuseWithError(400, 'Invalid arguments.')
        const file = await resolveFile(services, request, user, { where, path, size })
        if (file === undefined) return refuseWithError(400, 'Invalid arguments.')
        await createThumbnail(services, request, file, size).catch(refuseFailedThumbnail)
        return { encoded_thumbnail_src: thumbnailUrl(where, size, path) }
      },
    }),
  ),
  openToLinkHolders(
    route({
      method: 'GET',
      path: '/thumbnail/:where/:size/',
      auth: 'user',
      summary: 'Sends the thumbnail of a file in a library or of a share link.',
      prefix: true,
      params: { where: whereParam, size: rawText() },
      faults: { 'thumbnail-failed': () => [404, 'Not found.'] },
      responses: () => thumbnail,
      details: () => ({
        requestHeaders: rangeRequestHeaders,
        parameters: {
          where: {
            description: 'The id of a library, or the token of a share link, which needs no account.',
          },
          size: { description: 'The length of the longer side in pixels. The path of the file follows.' },
        },
      }),
      async handle({ user, params: { where, size: sent }, request }, services) {
        const size = readSize(sent ?? '') ?? refuseUnknown()
        const path = restOf(request.url) ?? refuseUnknown()
        const file = (await resolveFile(services, request, user, { where, path, size })) ?? refuseUnknown()
        return image(services, request, file, size)
      },
    }),
  ),
]

type ThumbnailRoute = ReturnType<typeof route>

/** Link tokens need no account. The link is opened like any other. */
function openToLinkHolders(closed: ThumbnailRoute): ThumbnailRoute {
  return {
    ...closed,
    openTo: ({ url }) => isLinkToken(/^\/thumbnail\/([^/?]*)/.exec(url)?.[1] ?? ''),
  }
}

/** The file at a path; undefined if there is none. Throws as Access and Links do. */
async function resolveFile(
  services: FileServices,
  request: HttpRequest,
  user: Account | undefined,
  { where, path, size }: { where: string; path: LibraryPath; size: number },
): Promise<ResolvedFile | undefined> {
  const id = parseLibraryId(where)
  if (id === undefined) {
    const requester = user ? accountRequester(user.key) : visitorRequester(addressKey(request.address))
    return resolveThroughLink(await visit(services, request, where, 'share'), path, size, requester)
  }
  if (user === undefined) return fail({ code: 'permission-denied' })
  const library = await services.access.open(user, id)
  const entry = await library.tree.find(path)
  return entry?.kind === 'file' ? { library, entry, requester: accountRequester(user.key) } : undefined
}

async function resolveThroughLink(
  open: OpenLink,
  path: LibraryPath,
  size: number,
  requester: string,
): Promise<ResolvedFile | undefined> {
  if (size > open.largestPreview) fail({ code: 'permission-denied' })
  const found = await open.findFile(path)
  return found && { library: open.library, entry: found.entry, requester }
}

function createThumbnail(
  { thumbnails }: FileServices,
  { signal }: HttpRequest,
  { library, entry, requester }: ResolvedFile,
  size: number,
): Promise<Buffer> {
  return thumbnails.get(library, entry, size, { key: requester, signal })
}

async function image(
  services: FileServices,
  request: HttpRequest,
  file: ResolvedFile,
  size: number,
): Promise<HttpResponse> {
  const bytes = await createThumbnail(services, request, file, size)
  return respondWith(request, {
    size: bytes.length,
    contentType: 'image/jpeg',
    etag: `${file.entry.id}-${thumbnailSizeFor(size)}`,
    lastModified: file.entry.mtime,
    headers: { 'Cache-Control': 'private, max-age=3600' },
    async *read({ start, end }) {
      yield bytes.subarray(start, end)
    },
  })
}

/** The path that follows the size in the URL. */
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
  return size >= 1 && size <= MAX_SIZE ? size : undefined
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

function refuseWithError(status: number, error: string): never {
  throw new Refusal(status, { error })
}

/** Most documents and audio files contain no picture. That is not an error. */
function noContentIfFailed(error: unknown): HttpResponse {
  if (!(error instanceof DomainError) || error.fault.code !== 'thumbnail-failed') throw error
  return rawResponse({ status: 204, body: '' })
}

function refuseFailedThumbnail(error: unknown): never {
  if (!(error instanceof DomainError) || error.fault.code !== 'thumbnail-failed') throw error
  throw new Refusal(422, { err_msg: 'Failed to create thumbnail.' })
}
