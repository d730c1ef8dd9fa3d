import { type Static, Type } from 'typebox'
import { empty, json, kinds, operation } from '../../openapi/index.ts'

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

export type OlderUploadLink = Static<typeof olderUploadLink>

const olderDownloadLink = kinds.record('OlderDownloadLink', {
  ...uploadLink,
  share_type: kinds.oneOfWords(['d', 'f'], 'A folder or a file.'),
  size: kinds.text('In bytes. Empty for a folder.'),
})

export type OlderDownloadLink = Static<typeof olderDownloadLink>

const deleted = { 200: json(kinds.successFlag, 'The link was deleted.') }

const olderLink = kinds.record('OlderShareLink', {
  username: kinds.account,
  repo_id: kinds.libraryId,
  ctime: kinds.isoTime,
  s_type: kinds.oneOfWords(['d', 'f'], 'A folder or a file.'),
  token: kinds.text('The token of the link.'),
  view_cnt: kinds.count('How often it was opened.'),
  path: kinds.text('The path of the item. That of a folder ends with a slash.'),
})

export type OlderShareLink = Static<typeof olderLink>

const mailed = {
  200: json(
    kinds.record('MailedLink', {
      success: Type.Array(kinds.text('An address.'), { description: 'The addresses that get a mail.' }),
      failed: Type.Array(
        Type.Object({ email: kinds.text('An address.'), error_msg: kinds.text('Why it gets none.') }),
      ),
    }),
    'The result for each address.',
  ),
}

const mailParameters = {
  email: { description: 'The addresses, separated by commas.' },
  token: { description: 'The token of the link.' },
  extra_msg: { description: 'A message to the recipients.' },
}

/** Smart links, the calls of older clients, and the older listings of a library's links. */
export const linkSchemas = [
  operation(
    'PUT /api2/repos/:repo_id/file/shared-link/',
    { 201: empty('The link.', { Location: 'The URL of the link.' }) },
    {
      parameters: {
        p: { required: true, description: 'The path of the item.' },
        share_type: { description: '`upload` for an upload link.' },
        password: { description: 'The password of the link.' },
        expire: { description: 'The days after which it ends.' },
      },
    },
  ),
  operation('GET /api2/shared-links/', {
    200: json(kinds.record('OlderShareLinks', { fileshares: Type.Array(olderLink) }), 'The links.'),
  }),
  operation(
    'DELETE /api2/shared-links/',
    { 200: json(Type.Object({}), 'The link was deleted.') },
    { parameters: { t: { required: true, description: 'The token of the link.' } } },
  ),
  operation('POST /api2/send-share-link/', mailed, { parameters: mailParameters }),
  operation('POST /api2/send-upload-link/', mailed, { parameters: mailParameters }),
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
