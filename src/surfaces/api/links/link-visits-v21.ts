import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { fail } from '../../../base/errors.ts'
import type { Dirent } from '../../../base/objects/index.ts'
import {
  baseName,
  isStorableName,
  joinPath,
  type LibraryPath,
  parentOf,
  ROOT,
  toNfc,
  withSlash,
} from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { copy, type Selection } from '../../../libraries/edits/index.ts'
import { shownDir } from '../../../libraries/tree/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { type FaultResponse, type HttpRequest, readVisitorCredentials } from '../../../platform/http/index.ts'
import { flag, integer, list, required, text } from '../../../platform/input/index.ts'
import { errorMessage, type HttpResponse, jsonTextResponse } from '../../../platform/responses/index.ts'
import { grantName, type LinkKind, type OpenLink } from '../../../sharing/access/index.ts'
import { guestOf } from '../../../sharing/quotas/index.ts'
import { openDestination } from '../batch/destination.ts'
import { requiredPath, type SentPath, sentPathOrRoot } from '../common/readers.ts'
import { filePathText, folderPathText } from '../common/resolve-path.ts'
import { thumbnailSrc } from '../common/thumbnail-url.ts'
import { isoTime } from '../common/wire-formats.ts'
import { senderOf } from './file-request.ts'
import { linkTokenParam } from './link-management.ts'
import {
  copied,
  destination,
  folder as folderDescribed,
  uploadAddress as uploadAddressDescribed,
  visitedFile,
  visitedFolder,
  visitor,
} from './link-visits.schema.ts'
import { type LinkServices, route } from './services.ts'

const ENTRIES_PER_SLICE = 1000

const shareLinkNotFound = {
  'link-not-found': ({ token }: { token: string }): FaultResponse => [404, `Share link ${token} not found.`],
}

/** A visitor who is not asked who they are, or does not say. */
const UNNAMED = { name: '', message: '' }

const tokenNotFound = {
  'link-not-found': ({ token }: { token: string }): FaultResponse => [404, `token ${token} not found.`],
}

const uploadFaults = {
  ...tokenNotFound,
  'link-expired': (): FaultResponse => [404, 'Share link is expired'],
}

/** Calls for visitors of a link, who know its password if it has one. */
export const linkVisitRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/share-links/:token/dirents/',
    auth: 'none',
    summary: 'Lists a folder below a share link, for visitors.',
    compatibility: 'supported',
    params: { token: linkTokenParam },
    query: {
      path: sentPathOrRoot,
      thumbnail_size: integer({ default: 256, min: 1, max: 4096, lenient: true }),
    },
    faults: shareLinkNotFound,
    responses: () => ({
      200: json(
        kinds.record('ListingOfLink', {
          dirent_list: kinds.array(kinds.anyOf([visitedFolder, visitedFile])),
          dir_path: kinds.folderPath,
        }),
        'The entries, folders first.',
      ),
    }),
    details: () => ({
      ...visitor,
      parameters: {
        ...folderDescribed,
        thumbnail_size: { description: 'The size of thumbnails in pixels.' },
      },
    }),
    async handle({ params: { token }, query, request }, services) {
      const open = await visit(services, request, token, 'share')
      if (!open.link.isDir) throw errorMessage(400, `Share link ${token} is not a folder share link.`)
      const { path, dir } = await folderBelow(open, query.path)
      const { entries } = await shownDir(dir)
      return listing(open, path, entries, query.thumbnail_size)
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/share-links/:token/upload/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Returns an upload link of a folder below a share link that permits uploads.',
    compatibility: 'supported',
    params: { token: linkTokenParam },
    query: { path: sentPathOrRoot },
    faults: shareLinkNotFound,
    responses: () => uploadAddressDescribed,
    details: () => ({
      ...visitor,
      errors: [443],
      parameters: folderDescribed,
    }),
    async handle({ params, query, request }, services) {
      return uploadAddress(
        services,
        request,
        await visit(services, request, params.token, 'share'),
        query.path,
      )
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/upload-links/:token/upload/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Returns an upload URL for the folder of an upload link.',
    compatibility: 'supported',
    params: { token: linkTokenParam },
    query: { path: sentPathOrRoot },
    faults: uploadFaults,
    responses: () => uploadAddressDescribed,
    details: () => ({
      ...visitor,
      errors: [443],
      parameters: { path: { description: 'Only `/`, the folder of the link.' } },
    }),
    async handle({ params, query, request }, services) {
      return uploadAddress(
        services,
        request,
        await visit(services, request, params.token, 'upload'),
        query.path,
      )
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/upload-links/:token/upload/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Returns an upload URL for the folder of an upload link, for a visitor who says who they are.',
    compatibility: 'addition',
    params: { token: linkTokenParam },
    body: { name: text(), message: text() },
    faults: uploadFaults,
    responses: () => uploadAddressDescribed,
    details: () => ({
      ...visitor,
      errors: [443],
      parameters: {
        name: { description: 'The name of the visitor.' },
        message: {
          description: 'A message to the creator of the link, who is notified of each file with it.',
        },
      },
    }),
    async handle({ params, body, request }, services) {
      const open = await visit(services, request, params.token, 'upload')
      return uploadAddress(services, request, open, { path: ROOT, text: ROOT }, body)
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/share-links/:token/upload/done/',
    auth: 'none',
    limit: 'anonymous',
    summary: 'Reports an upload through a share link or an upload link. No effect: the server already knows.',
    compatibility: 'supported',
    params: { token: linkTokenParam },
    body: { file_path: requiredPath(), is_dir: flag({ message: 'is_dir invalid.' }) },
    faults: {
      ...tokenNotFound,
      'link-expired': ({ kind }): FaultResponse => [
        403,
        `${kind === 'share' ? 'Share' : 'Upload'} link is expired`,
      ],
      'link-password-needed': (): FaultResponse => [403, 'Share link is encrypted.'],
    },
    responses: () => copied('The report has no effect.'),
    details: () => visitor,
    async handle({ params, request }, services) {
      const open = await visit(services, request, params.token)
      if (!open.canUpload) throw errorMessage(403, 'Share link has no can_upload permission')
      // The creator was notified in the transaction of the upload. The path is not looked up, so that the response does not
      // reveal whether it exists.
      return { success: true }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/share-links/:token/save-file-to-repo/',
    auth: 'user',
    summary: 'Copies a file of a share link into a library of the caller.',
    compatibility: 'supported',
    params: { token: linkTokenParam },
    body: { dst_repo_id: required(), dst_parent_dir: requiredPath(), path: sentPathOrRoot },
    faults: shareLinkNotFound,
    responses: () => copied('The file was copied.'),
    details: () => ({
      ...visitor,
      errors: [443],
      parameters: {
        ...destination,
        path: { description: 'The file below the link. Default: the file of the link.' },
      },
    }),
    async handle({ user, params, body, request }, services) {
      const open = await visit(services, request, params.token, 'share')
      const { path } = await fileBelow(open, body.path)
      return save(services, user, open, { parent: parentOf(path), names: [baseName(path)] }, body)
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/share-links/:token/save-items-to-repo/',
    auth: 'user',
    summary: 'Copies files and folders of a share link into a library of the caller.',
    compatibility: 'supported',
    params: { token: linkTokenParam },
    body: {
      src_parent_dir: sentPathOrRoot,
      src_dirents: list({ nonEmpty: true }),
      dst_repo_id: required(),
      dst_parent_dir: requiredPath(),
    },
    faults: shareLinkNotFound,
    responses: () => copied('The entries were copied.'),
    details: () => ({
      ...visitor,
      errors: [443],
      parameters: {
        ...destination,
        src_parent_dir: { description: 'The folder below the link that has the entries.' },
        src_dirents: { description: 'Names in that folder.' },
      },
    }),
    async handle({ user, params, body, request }, services) {
      const open = await visit(services, request, params.token, 'share')
      const { path } = await folderBelow(open, body.src_parent_dir)
      const selection = { parent: open.pathOf(path), names: body.src_dirents.map(checkedName) }
      return save(services, user, open, selection, body)
    },
  }),
]

/** Opens a link for a visitor. Throws as Links.open does. */
export function visit(
  { links }: Pick<LinkServices, 'links'>,
  request: HttpRequest,
  token: string,
  kind?: LinkKind,
): Promise<OpenLink> {
  return links.open(token, readVisitorCredentials(request, grantName(token)), kind)
}

/** A folder below a link. Throws path-not-found. */
export async function folderBelow(open: OpenLink, sent: SentPath) {
  const stored = sent.path && (await open.findDir(sent.path))
  if (sent.path !== undefined && stored !== undefined) return { path: sent.path, dir: stored.dir, stored }
  return notThere(sent)
}

function notThere(sent: SentPath): never {
  return fail({ code: 'path-not-found', path: folderPathText(sent), wanted: 'Folder' })
}

/** A file below a link. Throws path-not-found. */
async function fileBelow(open: OpenLink, sent: SentPath) {
  const found = sent.path && (await open.findFile(sent.path))
  return found ?? fail({ code: 'path-not-found', path: filePathText(sent), wanted: 'File' })
}

/** A valid name in a folder, which cannot lead elsewhere. Throws path-not-found. */
function checkedName(sent: string): string {
  const name = toNfc(sent.replace(/^\/+|\/+$/g, ''))
  return isStorableName(name) ? name : fail({ code: 'path-not-found', path: sent, wanted: 'Item' })
}

/** Copies the selected entries into a library of the user. */
async function save(
  services: LinkServices,
  user: Account,
  open: OpenLink,
  selection: Selection,
  to: { readonly dst_repo_id: string; readonly dst_parent_dir: SentPath },
): Promise<{ success: true }> {
  const source = open.originals
  const target = await openDestination(services, user, to.dst_repo_id, to.dst_parent_dir)
  const roomLeft = services.quotas.roomLeft.bind(services.quotas)
  const editable = target.library.editable(target.path)
  await open.asSeen(() => copy(services.core, source, selection, editable, target.path, roomLeft))
  return { success: true }
}

/** JSON text, rendered in slices because a folder may have many entries (I10). */
async function listing(
  open: OpenLink,
  folder: LibraryPath,
  entries: readonly Dirent[],
  thumbnailSize: number,
): Promise<HttpResponse> {
  const pieces: string[] = []
  for (const [index, entry] of entries.entries()) {
    if (index % ENTRIES_PER_SLICE === ENTRIES_PER_SLICE - 1) await yieldToEventLoop()
    pieces.push(JSON.stringify(entryToWire(open, folder, entry, thumbnailSize)))
  }
  const dirPath = JSON.stringify(withSlash(folder))
  return jsonTextResponse(`{"dirent_list":[${pieces.join(',')}],"dir_path":${dirPath}}`)
}

function entryToWire(open: OpenLink, folder: LibraryPath, entry: Dirent, thumbnailSize: number) {
  const path = joinPath(folder, entry.name)
  const last_modified = isoTime(entry.mtime)
  if (entry.kind === 'dir') {
    return { is_dir: true, folder_path: withSlash(path), folder_name: entry.name, size: 0, last_modified }
  }
  const src = thumbnailSrc(open.link.token, Math.min(thumbnailSize, open.largestPreview), path, entry)
  return {
    is_dir: false,
    file_path: path,
    file_name: entry.name,
    size: entry.size,
    last_modified,
    ...(src !== undefined && { encoded_thumbnail_src: src }),
  }
}

async function uploadAddress(
  services: LinkServices,
  request: HttpRequest,
  open: OpenLink,
  sent: SentPath,
  visitor = UNNAMED,
) {
  if (open.isClosed) throw errorMessage(403, 'The deadline has passed.')
  if (!open.canUpload) fail({ code: 'permission-denied' })
  // Visitors of an upload link must not learn which entries exist.
  if (open.link.kind === 'upload' && sent.path !== ROOT) notThere(sent)
  const { path: below } = await folderBelow(open, sent)
  open.editable(below)
  await services.quotas.refuseIfFull(open.library.info, guestOf(open.library, true))
  const options = {
    operation: 'upload',
    path: open.pathOf(below),
    reusable: true,
    link: open.ticketLink,
    sender: senderOf(open.link.request, visitor),
  } as const
  const ticket = await services.tickets.issue(open.library, options)
  return { upload_link: `${request.baseUrl}/seafhttp/upload-api/${ticket}` }
}
