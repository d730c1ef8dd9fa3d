import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

const token = kinds.text('The token of the link.')

/** The item of a link. */
export const linkTarget = {
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  path: kinds.text('The path of the item. That of a folder ends with a slash.'),
  obj_name: kinds.text('The name of the item.'),
}

const state = {
  view_cnt: kinds.count('How often it was opened.'),
  ctime: kinds.isoTime,
  expire_date: kinds.text('When it ends, in ISO 8601, or empty.'),
  is_expired: kinds.flag(),
  password: kinds.text('The password of the link, or empty.'),
  description: kinds.text('A note of its creator, or empty.'),
  is_valid: kinds.flag('Whether the item still exists.'),
  is_active: kinds.flag('Whether the link works.'),
}

const shareLink = {
  username: kinds.account,
  ...linkTarget,
  is_dir: kinds.flag(),
  token,
  link: kinds.url,
  download_link: kinds.text('The URL of the content of a file, or empty.'),
  show_download_link: kinds.flag(),
  ...state,
  permissions: Type.Object({
    can_edit: kinds.flag(),
    can_download: kinds.flag(),
    can_upload: kinds.flag(),
    can_copy_content: Type.Literal(true),
  }),
  user_scope: kinds.text('Who may open it.'),
  can_edit: kinds.flag('Whether its creator can edit the file in the web app.'),
}

const uploadLink = { ...linkTarget, link: kinds.url, token, username: kinds.account, ...state }

const target = { obj_id: kinds.objectIdOrEmpty }

const oneShareLink = kinds.record('ShareLink', { ...shareLink, ...target })
const oneUploadLink = kinds.record('UploadLink', { ...uploadLink, ...target })

const shareLinks = Type.Array(
  kinds.record('ListedShareLink', {
    ...shareLink,
    repo_folder_permission: kinds.oneOfWords(['rw', 'r', ''], 'What its creator may do there, or empty.'),
  }),
)
const uploadLinks = Type.Array(kinds.record('ListedUploadLink', uploadLink))

const deletedMany = {
  200: json(
    kinds.record('DeletedLinks', {
      failed: Type.Array(Type.Object({ token, error_msg: kinds.text('Why it failed.') })),
      success: Type.Array(Type.Object({ token })),
    }),
    'The result for each link.',
  ),
}

const deleted = { 200: json(kinds.successFlag, 'The link is gone.') }

const newLink = {
  repo_id: { description: 'The id of the library.' },
  path: { description: 'The path of the item.' },
  password: { description: 'Visitors need this password.' },
  description: { description: 'A note for the creator.' },
}

const newShareLink = {
  ...newLink,
  user_scope: { description: 'Who may open it. Default: everybody who has the link.' },
  emails: { description: 'The addresses that may open it, as a list or separated by commas.' },
}

/** The links of the caller, and those of a library. */
export const ownLinkSchemas = [
  operation('GET /api/v2.1/share-links/', { 200: json(shareLinks, 'The links.') }),
  operation(
    'POST /api/v2.1/share-links/',
    { 200: json(oneShareLink, 'The new link.') },
    { parameters: newShareLink },
  ),
  operation('GET /api/v2.1/share-links/:token/', { 200: json(oneShareLink, 'The link.') }),
  operation('PUT /api/v2.1/share-links/:token/', { 200: json(oneShareLink, 'The changed link.') }),
  operation('DELETE /api/v2.1/share-links/:token/', deleted),
  operation('DELETE /api/v2.1/share-links/', deletedMany),
  operation('DELETE /api/v2.1/share-links/clean-invalid/', deleted),
  operation('GET /api/v2.1/multi-share-links/', { 200: json(shareLinks, 'The links.') }),
  operation(
    'POST /api/v2.1/multi-share-links/',
    { 200: json(oneShareLink, 'The new link.') },
    { parameters: newShareLink },
  ),
  operation('GET /api/v2.1/upload-links/', { 200: json(uploadLinks, 'The links.') }),
  operation(
    'POST /api/v2.1/upload-links/',
    { 200: json(oneUploadLink, 'The link.') },
    { parameters: newLink },
  ),
  operation('GET /api/v2.1/upload-links/:token/', { 200: json(oneUploadLink, 'The link.') }),
  operation('PUT /api/v2.1/upload-links/:token/', { 200: json(oneUploadLink, 'The changed link.') }),
  operation('DELETE /api/v2.1/upload-links/:token/', deleted),
  operation('DELETE /api/v2.1/upload-links/', deletedMany),
  operation('DELETE /api/v2.1/upload-links/clean-invalid/', deleted),
  operation('GET /api/v2.1/repos/:repo_id/share-links/', { 200: json(shareLinks, 'The links.') }),
  operation('DELETE /api/v2.1/repos/:repo_id/share-links/:token/', deleted),
  operation('GET /api/v2.1/repos/:repo_id/upload-links/', { 200: json(uploadLinks, 'The links.') }),
  operation('DELETE /api/v2.1/repos/:repo_id/upload-links/:token/', deleted),
  operation('GET /api/v2.1/smart-links/:token/', {
    200: json(
      kinds.record('SmartLinkTarget', { repo_id: kinds.libraryId, path: kinds.path, is_dir: kinds.flag() }),
      'Where the item is now.',
    ),
  }),
]
