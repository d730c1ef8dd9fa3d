import { type Static, Type } from 'typebox'
import { json, kinds, type Operation, operation } from '../../openapi/index.ts'
import { batchSchemas } from '../batch/batch.schema.ts'
import { fileSchemas } from '../files/files.schema.ts'
import { folderSchemas } from '../folders/folders.schema.ts'
import { ownLinkSchemas } from '../links/own-links.schema.ts'
import { foundNames } from '../search/search.schema.ts'
import { transferLinkSchemas } from '../transfers/transfers.schema.ts'

const libraryToken = kinds.record('LibraryToken', {
  repo_id: kinds.libraryId,
  app_name: kinds.text('The name of the app.'),
  generated_by: kinds.account,
  permission: kinds.permission,
  api_token: kinds.text('The token. Empty if it cannot be shown any more.'),
})

export type ShownToken = Static<typeof libraryToken>

const originals = new Map(
  [...batchSchemas, ...fileSchemas, ...folderSchemas, ...ownLinkSchemas, ...transferLinkSchemas].map(
    (original) => [original.route, original],
  ),
)

interface Adapted {
  /** New names of parameters, by original name. */
  readonly renamed?: Readonly<Record<string, string>>
  /** The responses, if they differ. */
  readonly responses?: Operation['responses']
}

/** The operation of a route that is also offered to holders of a library token. */
function forLibraryToken(route: string, original: string, { renamed = {}, responses }: Adapted): Operation {
  const found = originals.get(original)
  if (found === undefined) throw new Error(`${original} is not described`)
  const parameters = Object.entries(found.parameters).map(([name, parameter]) => [
    renamed[name] ?? name,
    parameter,
  ])
  return {
    ...found,
    route,
    responses: responses ?? found.responses,
    parameters: Object.fromEntries(parameters),
  }
}

const permission = { description: 'Whether the app may write, or only read.' }

const via = '/api/v2.1/via-repo-token'
const dir = '/api/v2.1/repos/:repo_id/dir/'
const file = '/api/v2.1/repos/:repo_id/file/'
const batch = '/api/v2.1/repos'
const asPath = { renamed: { p: 'path' } }
const done = new Map([[200, [json(kinds.successFlag, 'It was done.')]]])

/** The API tokens of a library, and the calls of their holders. */
export const libraryTokenSchemas = [
  operation('GET /api/v2.1/repos/:repo_id/repo-api-tokens/', {
    200: json(
      kinds.record('LibraryTokens', { repo_api_tokens: Type.Array(libraryToken) }),
      'The tokens, newest first.',
    ),
  }),
  operation(
    'POST /api/v2.1/repos/:repo_id/repo-api-tokens/',
    { 200: json(libraryToken, 'The new token.') },
    {
      parameters: {
        app_name: { description: 'The name of the app, which the history shows for its changes.' },
        permission,
      },
    },
  ),
  operation(
    'PUT /api/v2.1/repos/:repo_id/repo-api-tokens/:app_name/',
    { 200: json(libraryToken, 'The changed token.') },
    { parameters: { permission } },
  ),
  operation('DELETE /api/v2.1/repos/:repo_id/repo-api-tokens/:app_name/', {
    200: json(kinds.successFlag, 'The token is revoked.'),
  }),
  operation(`GET ${via}/repo-info/`, {
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
  operation(
    `GET ${via}/search-files/`,
    { 200: foundNames },
    { parameters: { q: { required: true, description: 'A part of the name.' } } },
  ),
  forLibraryToken(`POST ${via}/share-links/`, 'POST /api/v2.1/share-links/', {}),
  forLibraryToken(`GET ${via}/dir/`, `GET ${dir}`, { renamed: { p: 'path', t: 'type' } }),
  forLibraryToken(`POST ${via}/dir/`, `POST ${dir}`, asPath),
  forLibraryToken(`DELETE ${via}/dir/`, `DELETE ${dir}`, asPath),
  forLibraryToken(`GET ${via}/file/`, `GET ${file}`, asPath),
  forLibraryToken(`POST ${via}/file/`, `POST ${file}`, asPath),
  forLibraryToken(`PUT ${via}/file/`, `PUT ${file}`, asPath),
  forLibraryToken(`DELETE ${via}/file/`, `DELETE ${file}`, asPath),
  forLibraryToken(`GET ${via}/upload-link/`, 'GET /api2/repos/:repo_id/upload-link/', asPath),
  forLibraryToken(`GET ${via}/download-link/`, 'GET /api2/repos/:repo_id/file/', {
    ...asPath,
    responses: new Map([
      [200, [json(kinds.url, 'A URL to download the file.', { oid: 'The id of the file.' })]],
    ]),
  }),
  forLibraryToken(`POST ${via}/sync-batch-copy-item/`, `POST ${batch}/sync-batch-copy-item/`, {
    responses: done,
  }),
  forLibraryToken(`POST ${via}/sync-batch-move-item/`, `POST ${batch}/sync-batch-move-item/`, {
    responses: done,
  }),
  operation(
    `POST ${via}/move-dir/`,
    { 200: json(kinds.successFlag, 'It was moved.') },
    {
      errors: [409, 443],
      parameters: {
        src_parent_dir: { description: 'The source folder.' },
        src_dirent_name: { description: 'The name in the source folder.' },
        dst_parent_dir: { description: 'The target folder.' },
      },
    },
  ),
  forLibraryToken(`DELETE ${via}/batch-delete-item/`, `DELETE ${batch}/batch-delete-item/`, {}),
]
