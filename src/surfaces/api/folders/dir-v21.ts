import { type CommitId, parseCommitId, parseDirId } from '../../../base/objects/index.ts'
import { joinPath, type LibraryPath, parentOf, parseName, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { makeFolder, type Placed, removeOne, rename, revertFolder } from '../../../libraries/edits/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { flag, integer, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { withFaultMessages } from '../common/fault-messages.ts'
import { libraryAt, pointInTime } from '../common/point-in-time.ts'
import {
  libraryIdParam,
  operationOf,
  requiredPath,
  type SentPath,
  sentPathOrRoot,
} from '../common/readers.ts'
import { folderAt, folderPathText, splitNewPath } from '../common/resolve-path.ts'
import { recursiveListing as recursiveListingDescribed } from './dirent.schema.ts'
import { folderDetailToWire, folderInfoToWire, listingV21 } from './folder-listing.ts'
import { folderInfo, folderListing, listingParameters, requestHeaders, unchanged } from './folders.schema.ts'
import { entryTypeQuery, recursiveQuery } from './listing-readers.ts'
import { recursiveListing } from './recursive-listing.ts'
import { type FolderServices, route } from './services.ts'

const folderOperation = operationOf(
  ['mkdir', 'rename', 'revert'],
  "operation can only be 'mkdir', 'rename' or 'revert'.",
)

export const dirRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/dir/',
    auth: 'user',
    summary:
      'Lists a folder, with its parent folders or recursively; as of `commit_id` or `at` if given. With `since`, the changes of a listing whose tag is sent.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/docs', path: '/docs' } },
    params: { repo_id: libraryIdParam },
    query: {
      p: sentPathOrRoot,
      t: entryTypeQuery,
      recursive: recursiveQuery,
      with_thumbnail: flag(),
      thumbnail_size: integer({ default: 256, min: 1 }),
      with_parents: flag(),
      since: rawText(),
      ...pointInTime,
    },
    responses: () => ({
      200: [
        json(folderListing, 'The entries, folders first.'),
        json(
          kinds.record('RecursiveListing', { dirent_list: recursiveListingDescribed }),
          'With `recursive=1`, everything below.',
        ),
      ],
      304: unchanged,
    }),
    details: () => ({ requestHeaders, parameters: listingParameters }),
    async handle({ user, params, query, request }, services) {
      const library = await libraryAt(await services.access.open(user, params.repo_id), query)
      const folder = await folderAt(library, query.p, folderPathText(query.p))
      if (query.recursive === '1') {
        const brackets = { before: '{"dirent_list":[', after: ']}' }
        return recursiveListing(services, library, folder, { kinds: query.t, ...brackets })
      }
      const thumbnailSize = query.with_thumbnail ? query.thumbnail_size : undefined
      return listingV21(services, library, folder, {
        kinds: query.t,
        withParents: query.with_parents,
        thumbnailSize,
        since: parseDirId(query.since ?? ''),
        request,
      })
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/dir/',
    auth: 'user',
    summary: 'Creates or renames a folder, or restores one as of a commit.',
    compatibility: 'supported',
    params: { repo_id: libraryIdParam },
    query: { p: notRoot('Can not operate root dir.') },
    body: {
      operation: folderOperation,
      newname: rawText(),
      commit_id: rawText(),
    },
    responses: () => ({
      200: [
        json(folderInfo, 'The folder.'),
        json(kinds.successFlag, 'With `operation=revert`, that it was restored.'),
      ],
    }),
    details: () => ({
      errors: [443],
      parameters: {
        newname: { description: 'For `rename`.' },
        commit_id: { description: 'The commit to restore the folder from, for `revert`.' },
      },
    }),
    async handle({ user, params, query, body }, services) {
      const library = await services.access.open(user, params.repo_id)
      if (body.operation === 'revert') {
        const commitId = parseCommitId(body.commit_id ?? '')
        if (commitId === undefined) throw errorMessage(400, 'commit_id invalid.')
        return bringBack(services, library, { commitId, path: query.p.path }, query.p)
      }
      const placed =
        body.operation === 'mkdir'
          ? await newFolder(library, query.p)
          : await renameFolder(services, library, query.p, body.newname)
      return folderInfoToWire(params.repo_id, placed)
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/repos/:repo_id/dir/',
    auth: 'user',
    summary: 'Deletes a folder and everything below it.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { p: '/docs/deep' } },
    params: { repo_id: libraryIdParam },
    query: { p: notRoot('Can not delete root path.') },
    responses: () => ({
      200: json(
        kinds.record('FolderDeleted', { success: kinds.literal(true), commit_id: kinds.objectId }),
        'The folder was deleted. `commit_id` is the commit before, which still has it.',
      ),
    }),
    async handle({ user, params, query }, { access, core }) {
      // Existing clients expect "folder not found" for an unknown library.
      const missing = (): [number, string] => [404, `Folder ${query.p.text} not found.`]
      const library = await withFaultMessages({ 'library-not-found': missing }, () =>
        access.open(user, params.repo_id),
      )
      const { path } = await folderAt(library, query.p)
      const { before } = await removeOne(core, library.editable(path), path)
      return { success: true, commit_id: before.head }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/dir/detail/',
    auth: 'user',
    summary: 'Describes a folder, with the number and total size of its files.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/docs', path: '/docs' } },
    params: { repo_id: libraryIdParam },
    query: { path: notRoot('path invalid.'), ...pointInTime },
    responses: () => ({
      200: json(
        kinds.record('FolderDetail', {
          repo_id: kinds.libraryId,
          path: kinds.folderPath,
          name: kinds.name,
          mtime: kinds.isoTime,
          permission: kinds.permission,
          file_count: kinds.count('The number of files below.'),
          size: kinds.size,
        }),
        'The folder.',
      ),
    }),
    async handle({ user, params, query }, services) {
      const library = await libraryAt(await services.access.open(user, params.repo_id), query)
      const { path, stored } = await folderAt(library, query.path, folderPathText(query.path))
      const entry = await library.tree.find(path)
      return folderDetailToWire(params.repo_id, {
        path,
        name: entry?.name ?? '',
        mtime: entry?.mtime ?? 0,
        permission: library.permissionAt(path),
        size: stored.size,
        fileCount: stored.fileCount,
      })
    },
  }),
]

/** A path that must be sent and must not be the root. */
function notRoot(message: string): ReturnType<typeof requiredPath> {
  const read = requiredPath()
  return (fields, name) => {
    const sent = read(fields, name)
    if (sent.path === ROOT) throw errorMessage(400, message)
    return sent
  }
}

async function bringBack(
  { core, quotas }: FolderServices,
  library: Library,
  wanted: { readonly commitId: CommitId; readonly path: LibraryPath | undefined },
  sent: SentPath,
): Promise<{ success: true }> {
  const editable = library.editable(parentOf(wanted.path ?? ROOT))
  const missing = (): [number, string] => [404, `Folder ${sent.text} not found.`]
  await withFaultMessages({ 'path-not-found': missing }, () =>
    revertFolder(core, editable, wanted, (info) => quotas.roomLeft(info)),
  )
  return { success: true }
}

async function newFolder(library: Library, sent: SentPath): Promise<Placed> {
  const { parent, name } = splitNewPath(sent)
  const { path } = await folderAt(library, parent)
  const editable = library.editable(path)
  if (name === undefined) throw errorMessage(400, 'name invalid.')
  return (await makeFolder(editable, joinPath(path, name))).result
}

/** Renaming to the same name is rejected. */
async function renameFolder(
  { core }: FolderServices,
  library: Library,
  sent: SentPath,
  newName: string | undefined,
): Promise<Placed> {
  const { path } = await folderAt(library, sent)
  const editable = library.editable(path)
  if (!newName) throw errorMessage(400, 'newname invalid.')
  const name = parseName(newName)
  if (name === undefined) throw errorMessage(400, 'name invalid.')
  return (await rename(core, editable, path, name)).result
}
