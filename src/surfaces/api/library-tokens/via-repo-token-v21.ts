import { fail } from '../../../base/errors.ts'
import { type LibraryId, parseLibraryId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { accepting, type Reader, rawText, required } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { batchItemRoutes } from '../batch/sync-batch-v21.ts'
import { requiredPath } from '../common/readers.ts'
import { isoTime } from '../common/wire-formats.ts'
import { fileOperationRoutesV21 } from '../files/file-operations-v21.ts'
import { fileRoutesV2 } from '../files/file-v2.ts'
import { fileRoutesV21 } from '../files/file-v21.ts'
import { dirRoutesV21 } from '../folders/dir-v21.ts'
import { shareLinkRoutes } from '../links/share-links-v21.ts'
import { foundNames } from '../search/search.schema.ts'
import { findNames } from '../search/search-file-v21.ts'
import { searchText } from '../search/search-input.ts'
import { uploadLinkRoutesV2 } from '../transfers/upload-links-v2.ts'
import { forLibraryToken, type Via } from './route-adapter.ts'
import { route } from './services.ts'

const dir = '/api/v2.1/repos/:repo_id/dir/'
const file = '/api/v2.1/repos/:repo_id/file/'
const asPath = { p: 'path' }
const files = [...fileRoutesV21, ...fileOperationRoutesV21]

/** Text that may be left out, but not be empty. */
const nothingOrMore: Reader<string | undefined> = (fields, name) => {
  const sent = rawText()(fields, name)
  if (sent === '') throw errorMessage(400, `${name} invalid.`)
  return sent
}

/** One name, for a call that takes a list. */
const oneName: Reader<string[]> = accepting({ type: 'string', required: true }, (fields, name) => [
  required()(fields, name),
])

/** The library of a token. */
function libraryOf({ scope }: Account): LibraryId {
  return parseLibraryId(scope?.libraryId ?? '') ?? fail({ code: 'token-not-found' })
}

const success = () => ({ success: true })
const move = {
  implied: ['src_repo_id', 'dst_repo_id'],
  answered: success,
  responses: () => ({ 200: json(kinds.successFlag, 'It was done.') }),
} satisfies Partial<Via>

/** The routes for holders of a library token. The library is implied. */
export const libraryTokenAccessRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/via-repo-token/repo-info/',
    auth: 'library',
    summary: 'Describes the library of a library token.',
    compatibility: 'supported',
    responses: () => ({
      200: json(
        kinds.record('LibraryOfToken', {
          repo_id: kinds.libraryId,
          repo_name: kinds.text('The name of the library.'),
          size: kinds.size,
          file_count: kinds.count('The number of files.'),
          last_modified: kinds.isoTime,
        }),
        'The library.',
      ),
    }),
    async handle({ user }, { access }) {
      const { info } = await access.open(user, libraryOf(user))
      return {
        repo_id: info.id,
        repo_name: info.name,
        size: info.size,
        file_count: info.fileCount,
        last_modified: isoTime(info.updatedAt),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/via-repo-token/search-files/',
    auth: 'library',
    summary: 'Searches files and folders by part of their name.',
    compatibility: 'supported',
    query: { q: searchText },
    responses: () => ({ 200: foundNames }),
    details: () => ({ parameters: { q: { required: true, description: 'A part of the name.' } } }),
    async handle({ user, query }, services) {
      if (query.q === '') throw errorMessage(400, 'q invalid.')
      return findNames(services, user, libraryOf(user), query.q)
    },
  }),
  forLibraryToken(shareLinkRoutes, 'POST /api/v2.1/share-links/', {
    path: 'share-links/',
    summary: 'Creates the share link of a file or folder.',
    implied: ['repo_id'],
  }),
  forLibraryToken(dirRoutesV21, `GET ${dir}`, {
    path: 'dir/',
    summary: 'Lists a folder, or everything below it.',
    renamed: { p: 'path', t: 'type' },
  }),
  forLibraryToken(dirRoutesV21, `POST ${dir}`, {
    path: 'dir/',
    summary: 'Creates or renames a folder, or restores one as of a commit.',
    renamed: asPath,
  }),
  forLibraryToken(dirRoutesV21, `DELETE ${dir}`, {
    path: 'dir/',
    summary: 'Deletes a folder and everything below it.',
    renamed: asPath,
  }),
  forLibraryToken(files, `GET ${file}`, {
    path: 'file/',
    summary: 'Describes a file.',
    renamed: asPath,
  }),
  forLibraryToken(files, `POST ${file}`, {
    path: 'file/',
    summary: 'Creates, renames, moves or copies a file, or reverts it to a commit.',
    renamed: asPath,
    implied: ['dst_repo'],
  }),
  forLibraryToken(files, `PUT ${file}`, {
    path: 'file/',
    summary: 'Locks or unlocks a file, or extends a lock.',
    renamed: asPath,
  }),
  forLibraryToken(files, `DELETE ${file}`, {
    path: 'file/',
    summary: 'Deletes a file. Idempotent.',
    renamed: asPath,
  }),
  forLibraryToken(uploadLinkRoutesV2, 'GET /api2/repos/:repo_id/upload-link/', {
    path: 'upload-link/',
    summary: 'Returns an upload link of a folder.',
    renamed: asPath,
    readers: { p: nothingOrMore },
  }),
  forLibraryToken(fileRoutesV2, 'GET /api2/repos/:repo_id/file/', {
    path: 'download-link/',
    summary: 'Returns a download link of a file.',
    renamed: asPath,
    readers: { p: requiredPath() },
    without: ['op'],
    responses: () => ({
      200: json(kinds.url, 'A URL to download the file.', { oid: 'The id of the file.' }),
    }),
  }),
  forLibraryToken(batchItemRoutes, 'POST /api/v2.1/repos/sync-batch-copy-item/', {
    ...move,
    path: 'sync-batch-copy-item/',
    summary: 'Copies entries of a folder to another.',
  }),
  forLibraryToken(batchItemRoutes, 'POST /api/v2.1/repos/sync-batch-move-item/', {
    ...move,
    path: 'sync-batch-move-item/',
    summary: 'Moves entries of a folder to another.',
  }),
  forLibraryToken(batchItemRoutes, 'POST /api/v2.1/repos/sync-batch-move-item/', {
    ...move,
    path: 'move-dir/',
    summary: 'Moves one entry of a folder to another.',
    renamed: { src_dirents: 'src_dirent_name' },
    readers: { src_dirents: oneName },
    responses: () => ({ 200: json(kinds.successFlag, 'It was moved.') }),
    details: () => ({
      errors: [409, 443],
      parameters: {
        src_parent_dir: { description: 'The source folder.' },
        src_dirent_name: { description: 'The name in the source folder.' },
        dst_parent_dir: { description: 'The target folder.' },
      },
    }),
  }),
  forLibraryToken(batchItemRoutes, 'DELETE /api/v2.1/repos/batch-delete-item/', {
    path: 'batch-delete-item/',
    summary: 'Deletes entries of a folder by name; missing ones are ignored.',
    implied: ['repo_id'],
  }),
]
