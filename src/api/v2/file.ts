import { answer } from '../../http/answer.ts'
import { rawText } from '../../http/readers.ts'
import { errorMessage } from '../../http/refusal.ts'
import { removeOne } from '../../library/entries.ts'
import type { Library } from '../../library/library.ts'
import { findOrigin, getTreeAt } from '../../library/revisions.ts'
import { isStarred } from '../../library/stars.ts'
import { type FileId, parseCommitId } from '../../objects/ids.ts'
import { parentOf, ROOT } from '../../objects/paths.ts'
import { fileDetailToWire } from '../entry-wire.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { reloaded } from '../listing.ts'
import { lenientFlag } from '../listing-readers.ts'
import { type FoundFile, fileAt } from '../lookups.ts'
import { libraryIdParam, requiredPath, type SentPath, sentPath } from '../readers.ts'
import { type ApiServices, route } from '../services.ts'
import { encodeSegment } from '../wire.ts'
import { denied } from '../worded.ts'

const readingFaults = {
  ...olderLibraryNotFound,
  ...denied('You do not have permission to access this file.'),
  'path-not-found': (): [number, string] => [404, 'File not found'],
}

export const fileRoutes = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Gives a link to download a file by, or the ids of its blocks.',
    params: { repo_id: libraryIdParam },
    query: { p: sentPath, reuse: rawText(), op: rawText() },
    faults: readingFaults,
    async handle({ user, params, query, request }, services) {
      const library = await services.access.open(user, params.repo_id)
      const file = await fileAt(library, pathOf(query.p))
      const reusable = readReuse(query.reuse)
      const headers = { oid: file.entry.id }
      const operation = query.op || 'download'
      if (operation === 'downloadblks') return answer(200, await blockList(services, library, file), headers)
      if (operation !== 'download') throw errorMessage(400, 'op invalid.')
      const { path, entry } = file
      const object = { objectId: entry.id, modifiedAt: entry.mtime }
      const wish = { operation: 'download', path, ...object, reusable } as const
      const ticket = await services.tickets.issue(library, wish)
      const url = `${request.baseUrl}/seafhttp/files/${ticket}/${encodeSegment(entry.name)}`
      return answer(200, url, headers)
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/file/detail/',
    auth: 'user',
    summary: 'Describes a file: who changed it last, who added it, whether it is starred.',
    params: { repo_id: libraryIdParam },
    query: { p: requiredPath(), commit_id: rawText() },
    async handle({ user, params, query, request }, services) {
      const { core, directory } = services
      const library = await services.access.open(user, params.repo_id)
      const file = await fileAt(library, query.p)
      const { path, entry } = file
      const [starred, origin, id] = await Promise.all([
        isStarred(core, library, path),
        findOrigin(core, library.info, path),
        query.commit_id ? idAtCommit(services, library, query.p, query.commit_id) : entry.id,
      ])
      const modifier = await directory.person(entry.modifier)
      const uploader = origin ? await directory.person(origin.author) : modifier
      const uploadedAt = origin?.addedAt ?? entry.mtime
      const permission = library.permissionAt(parentOf(path))
      return fileDetailToWire(
        { entry, id, permission, starred, modifier, uploader, uploadedAt },
        request.baseUrl,
      )
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/file/metadata/',
    auth: 'user',
    summary: 'Gives the id of a file.',
    params: { repo_id: libraryIdParam },
    query: { p: sentPath },
    faults: readingFaults,
    async handle({ user, params, query }, { access }) {
      const library = await access.open(user, params.repo_id)
      return { id: (await fileAt(library, pathOf(query.p))).entry.id }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Deletes a file or folder; one that is not there is fine.',
    params: { repo_id: libraryIdParam },
    query: { p: sentPath, reloaddir: lenientFlag },
    faults: olderLibraryNotFound,
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

function readReuse(sent = '0'): boolean {
  if (sent === '0' || sent === '1') return sent === '1'
  throw errorMessage(
    400,
    "If you want to reuse file server access token for download file, you should set 'reuse' argument as '1'.",
  )
}

async function blockList({ core }: ApiServices, library: Library, { entry }: FoundFile) {
  const { blockIds } = await core.objects.getFile(library.info.key, entry.id)
  const { encryption } = library.info
  return {
    file_id: entry.id,
    blklist: blockIds,
    encrypted: encryption !== undefined,
    enc_version: encryption?.version ?? 0,
  }
}

/** Throws commit-not-found, and path-not-found for a file that commit does not have. */
async function idAtCommit(
  { core }: ApiServices,
  library: Library,
  sent: SentPath,
  commitId: string,
): Promise<FileId> {
  const id = parseCommitId(commitId)
  if (id === undefined) throw errorMessage(400, 'commit_id invalid.')
  const tree = await getTreeAt(core, library.info, id)
  return (await fileAt({ tree }, sent)).entry.id
}
