import { json, kinds } from '../../../base/schemas/index.ts'
import { askings } from './file-request.ts'

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
  permissions: kinds.object({
    can_edit: kinds.flag(),
    can_download: kinds.flag(),
    can_upload: kinds.flag(),
    can_copy_content: kinds.literal(true),
  }),
  user_scope: kinds.text('Who may open it.'),
  can_edit: kinds.flag('Whether its creator can edit the file in the web app.'),
}

const request = kinds.orNull(
  kinds.record('FileRequest', () => ({
    heading: kinds.text('The heading of the page, or empty.'),
    name: kinds.oneOfWords(askings, 'Whether visitors say who they are.'),
    message: kinds.flag('Whether visitors can write a message.'),
    files: kinds.array(kinds.text('A file that is wanted, by name or description.')),
    deadline: kinds.text('No upload is accepted from then on, in ISO 8601, or empty.'),
    folder_by_name: kinds.flag('Whether the files of each visitor go into a folder with their name.'),
  })),
)

const uploadLink = {
  ...linkTarget,
  link: kinds.url,
  token,
  username: kinds.account,
  ...state,
  description: kinds.text('A text that visitors see, or empty.'),
  request,
}

const target = { obj_id: kinds.objectIdOrEmpty }

export const oneShareLink = kinds.record('ShareLink', () => ({ ...shareLink, ...target }))
export const oneUploadLink = kinds.record('UploadLink', () => ({ ...uploadLink, ...target }))

export const shareLinks = kinds.array(
  kinds.record('ListedShareLink', () => ({
    ...shareLink,
    repo_folder_permission: kinds.oneOfWords(['rw', 'r', ''], 'What its creator may do there, or empty.'),
  })),
)
export const uploadLinks = kinds.array(kinds.record('ListedUploadLink', () => uploadLink))

export const deletedMany = {
  200: json(
    kinds.record('DeletedLinks', () => ({
      failed: kinds.array(kinds.object({ token, error_msg: kinds.text('Why it failed.') })),
      success: kinds.array(kinds.object({ token })),
    })),
    'The result for each link.',
  ),
}

export const deleted = { 200: json(kinds.successFlag, 'The link is gone.') }

const newLink = {
  repo_id: { description: 'The id of the library.' },
  path: { description: 'The path of the item.' },
  password: { description: 'Visitors need this password.' },
  description: { description: 'A note for the creator.' },
}

export const newUploadLink = { ...newLink, description: { description: 'A text that visitors see.' } }

export const newShareLink = {
  ...newLink,
  user_scope: { description: 'Who may open it. Default: everybody who has the link.' },
  emails: { description: 'The addresses that may open it, as a list or separated by commas.' },
}
