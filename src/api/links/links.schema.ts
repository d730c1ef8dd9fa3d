import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

const uploadLink = {
  create_by: kinds.account,
  creator_name: kinds.displayName,
  create_time: Type.String({
    description: 'ISO 8601 without a colon in the offset.',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d[+-]\\d{4}$',
  }),
  token: kinds.text('The token of the link.'),
  path: kinds.path,
  name: kinds.name,
  view_count: kinds.count('How often it was opened.'),
}

const olderUploadLink = kinds.record('OlderUploadLink', uploadLink)

const olderDownloadLink = kinds.record('OlderDownloadLink', {
  ...uploadLink,
  share_type: kinds.oneOfWords(['d', 'f'], 'A folder or a file.'),
  size: kinds.text('In bytes. Empty for a folder.'),
})

const deleted = { 200: json(kinds.successFlag, 'The link was deleted.') }

/** Smart links, and the older listings of a library's links. */
export const linkSchemas = [
  operation(
    'GET /api/v2.1/smart-link/',
    {
      200: json(
        kinds.record('SmartLink', {
          smart_link: kinds.url,
          smart_link_token: kinds.text('The token of the link.'),
          name: kinds.name,
        }),
        'A permanent link of the item.',
      ),
    },
    {
      parameters: {
        repo_id: { description: 'The id of the library.' },
        path: { description: 'The path of the item.' },
        is_dir: { description: 'Whether it is a folder.' },
      },
    },
  ),
  operation(
    'GET /api2/repos/:repo_id/download-shared-links/',
    { 200: json(Type.Array(olderDownloadLink), 'The share links.') },
    { deprecated: true },
  ),
  operation(
    'GET /api2/repos/:repo_id/upload-shared-links/',
    { 200: json(Type.Array(olderUploadLink), 'The upload links.') },
    { deprecated: true },
  ),
  operation('DELETE /api2/repos/:repo_id/download-shared-links/:token/', deleted, { deprecated: true }),
  operation('DELETE /api2/repos/:repo_id/upload-shared-links/:token/', deleted, { deprecated: true }),
]
