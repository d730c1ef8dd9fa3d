import type { FileId } from '../../../base/objects/index.ts'
import { type LibraryPath, parentOf, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { isStarred } from '../../../libraries/attributes/index.ts'
import { removeOne } from '../../../libraries/edits/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse } from '../../../platform/responses/index.ts'
import { deniedMessage } from '../common/fault-messages.ts'
import { libraryAt, type PointInTime, pointInTime } from '../common/point-in-time.ts'
import { libraryIdParam, requiredPath, type SentPath, sentPath } from '../common/readers.ts'
import { type FoundFile, fileAt } from '../common/resolve-path.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { reloaded } from '../folders/folder-listing.ts'
import { lenientFlag } from '../folders/listing-readers.ts'
import { downloadLink, readReuse } from '../transfers/download-link.ts'
import { fileDetailToWire } from './entry-wire.ts'
import { fileBlocks, fileDetail, moment, reloaddir, reloaded as reloadedDescribed } from './files.schema.ts'
import { route } from './services.ts'

const readingFaults = {
  ...olderLibraryNotFound,
  ...deniedMessage('You do not have permission to access this file.'),
  'path-not-found': (): [number, string] => [404, 'File not found'],
}

export const fileRoutesV2 = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Returns a download link of a file, or its block ids; as of `commit_id` or `at` if given.',
    compatibility: { result: 'different', note: 'A one-time link is consumed when its response starts.' },
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params: { repo_id: libraryIdParam },
    query: { p: sentPath, reuse: rawText(), op: rawText(), ...pointInTime },
    faults: readingFaults,
    responses: () => ({
      200: [
        json(kinds.url, 'A URL to download the file.', { oid: 'The id of the file.' }),
        json(fileBlocks, 'With `op=downloadblks`, the ids of its blocks.'),
      ],
    }),
    details: () => ({
      parameters: {
        p: { required: true },
        reuse: { description: '`1`: the URL can be used more than once.' },
        op: { description: '`download` or `downloadblks`. Default: `download`.' },
        ...moment,
      },
    }),
    async handle({ user, params, query, request }, services) {
      const opened = await services.access.open(user, params.repo_id)
      const sent = pathOf(query.p)
      const library = await libraryAt(opened, query)
      const file = await fileAt(library, sent)
      const reusable = readReuse(query.reuse)
      const operation = query.op || 'download'
      if (operation === 'downloadblks') {
        return jsonResponse(200, await blockList(library, file), { oid: file.entry.id })
      }
      if (operation !== 'download') throw errorMessage(400, 'op invalid.')
      return downloadLink(services, library, file, { reusable, request })
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/file/detail/',
    auth: 'user',
    summary: 'Describes a file: last modifier, uploader, star.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params: { repo_id: libraryIdParam },
    query: { p: requiredPath(), ...pointInTime },
    responses: () => ({ 200: json(fileDetail, 'The file.') }),
    details: () => ({ parameters: moment }),
    async handle({ user, params, query, request }, services) {
      const { core, directory } = services
      const library = await services.access.open(user, params.repo_id)
      const { path, entry, id } = await describedFile(library, query.p, query)
      const [starred, comments, origin, modifierViaLink] = await Promise.all([
        isStarred(core, library, path),
        services.comments.count(library, path),
        library.history.findOrigin(path),
        isContentOfVisitor(library, path, id),
      ])
      const modifier = await directory.person(entry.modifier)
      const uploader = origin ? await directory.person(origin.author) : modifier
      const uploadedAt = origin?.addedAt ?? entry.mtime
      const permission = library.permissionAt(parentOf(path))
      const uploaderViaLink = origin?.viaLink === true
      const viaLink = { modifier: modifierViaLink, uploader: uploaderViaLink }
      return fileDetailToWire(
        { entry, id, permission, starred, modifier, uploader, viaLink, uploadedAt, comments },
        request.baseUrl,
      )
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/file/metadata/',
    auth: 'user',
    summary: 'Returns the id of a file.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params: { repo_id: libraryIdParam },
    query: { p: sentPath },
    faults: readingFaults,
    responses: () => ({
      200: json(kinds.record('FileId', { id: kinds.objectId }), 'The id of the file.'),
    }),
    details: () => ({ parameters: { p: { required: true } } }),
    async handle({ user, params, query }, { access }) {
      const library = await access.open(user, params.repo_id)
      return { id: (await fileAt(library, pathOf(query.p))).entry.id }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Deletes a file or folder. Idempotent.',
    compatibility: { result: 'different', note: 'Refuses locked files and the root.' },
    callers: 'writers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params: { repo_id: libraryIdParam },
    query: { p: sentPath, reloaddir: lenientFlag },
    faults: olderLibraryNotFound,
    responses: () => ({ 200: [json(kinds.successWord, 'The file or folder is gone.'), reloadedDescribed] }),
    details: () => ({ parameters: { p: { required: true }, ...reloaddir } }),
    async handle({ user, params, query }, services) {
      const library = await services.access.open(user, params.repo_id)
      const { path } = pathOf(query.p)
      const editable = library.editable(path ?? ROOT)
      if (path !== undefined) await removeOne(services.core, editable, path)
      if (!query.reloaddir || path === undefined) return 'success'
      return reloaded(services, await services.access.open(user, params.repo_id), parentOf(path))
    },
  }),
]

function pathOf(sent: SentPath | undefined): SentPath {
  if (sent === undefined) throw errorMessage(400, 'Path is missing.')
  return sent
}

async function blockList(library: Library, { entry }: FoundFile) {
  const { blockIds } = await library.content.getFile(entry.id)
  const { encryption } = library.info
  return {
    file_id: entry.id,
    blklist: blockIds,
    encrypted: encryption !== undefined,
    enc_version: encryption?.version ?? 0,
  }
}

/** Whether a visitor of a link uploaded this content of a file. False if the file has other content now. Renames and moves do not count. */
async function isContentOfVisitor(
  { history, tree }: Library,
  path: LibraryPath,
  id: FileId,
): Promise<boolean> {
  if ((await tree.find(path))?.id !== id) return false
  return (await history.findContentCommit(path))?.viaLink === true
}

/**
 * The file to describe. With `at`, the file as of that time. With `commit_id` only the file id is of that commit; the rest
 * describes the current file, if it still exists. Throws commit-not-found, path-not-found.
 */
async function describedFile(
  library: Library,
  sent: SentPath,
  when: PointInTime,
): Promise<FoundFile & { id: FileId }> {
  if (!when.commit_id) {
    const file = await fileAt(await libraryAt(library, when), sent)
    return { ...file, id: file.entry.id }
  }
  const then = await fileAt(await libraryAt(library, when), sent)
  const now = await library.tree.find(then.path)
  return { path: then.path, entry: now?.kind === 'file' ? now : then.entry, id: then.entry.id }
}
