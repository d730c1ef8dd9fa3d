import { baseName, joinPath, type LibraryPath, parentOf, parseName, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { makeFolder, makeFolders, removeOne, rename } from '../../../libraries/edits/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse } from '../../../platform/responses/index.ts'
import { libraryAt, pointInTime } from '../common/point-in-time.ts'
import { libraryIdParam, requiredPath, type SentPath, sentPath, sentPathOrRoot } from '../common/readers.ts'
import { folderAt, folderPathText, splitNewPath } from '../common/resolve-path.ts'
import { encodePath } from '../common/wire-formats.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { listing, listingHeaders, recursiveListing as recursiveListingDescribed } from './dirent.schema.ts'
import { listingHeadersV2, listingV2, reloaded } from './folder-listing.ts'
import { reloaded as reloadedDescribed, requestHeaders, unchanged } from './folders.schema.ts'
import { entryTypeQuery, lenientFlag, recursiveQuery } from './listing-readers.ts'
import { recursiveListing } from './recursive-listing.ts'
import { type FolderServices, route } from './services.ts'

export const dirRoutesV2 = [
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/dir/',
    auth: 'user',
    summary: 'Lists a folder, or everything below it; as of `commit_id` or `at` if given.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/docs', path: '/docs' } },
    params: { repo_id: libraryIdParam },
    query: {
      p: sentPathOrRoot,
      oid: rawText(),
      t: entryTypeQuery,
      recursive: recursiveQuery,
      ...pointInTime,
    },
    responses: () => ({
      200: [
        json(listing, 'The entries, folders first.', listingHeaders),
        json(recursiveListingDescribed, 'With `recursive=1`, everything below.'),
        json(kinds.literal('uptodate'), 'The folder has the id that `oid` names.'),
      ],
      304: unchanged,
    }),
    details: () => ({ requestHeaders }),
    async handle({ user, params, query, request }, services) {
      const library = await libraryAt(await services.access.open(user, params.repo_id), query)
      const folder = await folderAt(library, query.p, folderPathText(query.p))
      const headers = listingHeadersV2(library, folder.path, folder.stored)
      if (query.oid === folder.stored.dir.id) return jsonResponse(200, 'uptodate', headers)
      if (query.recursive === '0') return listingV2(services, library, folder, { kinds: query.t, request })
      const brackets = { before: '[', after: ']', headers }
      return recursiveListing(services, library, folder, { kinds: query.t, ...brackets })
    },
  }),
  route({
    method: 'POST',
    path: '/api2/repos/:repo_id/dir/',
    auth: 'user',
    summary: 'Creates or renames a folder.',
    compatibility: 'supported',
    params: { repo_id: libraryIdParam },
    query: { p: sentPath, reloaddir: lenientFlag },
    body: { operation: rawText(), newname: rawText(), create_parents: lenientFlag },
    faults: { ...olderLibraryNotFound, 'name-invalid': () => [400, 'Folder name invalid.'] },
    responses: () => ({
      200: [json(kinds.successWord, 'The folder was renamed.'), reloadedDescribed],
      201: json(kinds.successWord, 'The folder was created.', {
        Location: 'The URL of the folder in this API.',
      }),
    }),
    details: () => ({
      parameters: {
        p: { required: true },
        operation: { required: true, description: '`mkdir` or `rename`.' },
        newname: { description: 'For `rename`.' },
        create_parents: { description: 'Creates missing parent folders too.' },
      },
    }),
    async handle({ user, params, query, body, request }, services) {
      const library = await services.access.open(user, params.repo_id)
      const sent = folderToChange(query.p)
      const operation = body.operation?.toLowerCase()
      if (operation === 'rename') {
        await renameFolder(services, library, sent, body.newname)
        return 'success'
      }
      if (operation !== 'mkdir') throw errorMessage(400, 'Operation not supported.')
      const made = await newFolder(library, sent, body.create_parents)
      if (query.reloaddir) {
        return reloaded(services, await services.access.open(user, params.repo_id), parentOf(made))
      }
      const location = `${request.baseUrl}/api2/repos/${params.repo_id}/dir/?p=${encodePath(made)}`
      return jsonResponse(201, 'success', { Location: location })
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/repos/:repo_id/dir/',
    auth: 'user',
    summary: 'Deletes a folder and everything below it.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { p: '/docs/deep' } },
    params: { repo_id: libraryIdParam },
    query: { p: requiredPath(), reloaddir: lenientFlag },
    responses: () => ({
      200: [json(kinds.successWord, 'The folder was deleted.'), reloadedDescribed],
    }),
    async handle({ user, params, query }, services) {
      const library = await services.access.open(user, params.repo_id)
      const { path } = await folderAt(library, query.p)
      await removeOne(services.core, library.editable(path), path)
      if (!query.reloaddir) return 'success'
      return reloaded(services, await services.access.open(user, params.repo_id), parentOf(path))
    },
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:repo_id/dir/metadata/',
    auth: 'user',
    summary: 'Returns the id of a folder.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/docs', path: '/docs' } },
    params: { repo_id: libraryIdParam },
    query: { p: sentPathOrRoot },
    responses: () => ({
      200: json(kinds.record('FolderId', { id: kinds.objectId }), 'The id of the folder.'),
    }),
    async handle({ user, params, query }, { access }) {
      const library = await access.open(user, params.repo_id)
      const { stored } = await folderAt(library, query.p, folderPathText(query.p))
      return { id: stored.dir.id }
    },
  }),
]

function folderToChange(sent: SentPath | undefined): SentPath {
  if (sent === undefined || !sent.text.startsWith('/')) throw errorMessage(400, 'Path is missing.')
  if (sent.path === ROOT) throw errorMessage(400, 'Path is invalid.')
  return sent
}

async function newFolder(library: Library, sent: SentPath, withParents: boolean): Promise<LibraryPath> {
  const { parent, name } = splitNewPath(sent)
  if (name === undefined) throw errorMessage(400, 'Folder name invalid.')
  if (withParents) {
    if (sent.path === undefined) throw errorMessage(400, 'Folder name invalid.')
    return (await makeFolders(library.editable(sent.path), sent.path)).result
  }
  const { path } = await folderAt(library, parent)
  return (await makeFolder(library.editable(path), joinPath(path, name))).result.path
}

async function renameFolder(
  { core }: FolderServices,
  library: Library,
  sent: SentPath,
  newName: string | undefined,
): Promise<void> {
  const { path } = await folderAt(library, sent)
  const editable = library.editable(path)
  if (!newName) throw errorMessage(400, 'New name is mandatory.')
  const name = parseName(newName)
  if (name === undefined) throw errorMessage(400, 'Folder name invalid.')
  if (name !== baseName(path)) await rename(core, editable, path, name)
}
