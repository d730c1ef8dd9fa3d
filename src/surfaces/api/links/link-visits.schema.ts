import { json, kinds } from '../../../base/schemas/index.ts'
import { archiveTask } from '../transfers/transfers.schema.ts'

export const visitedFolder = kinds.record('FolderOfLink', () => ({
  is_dir: kinds.literal(true),
  folder_path: kinds.text('The path below the link. It ends with a slash.'),
  folder_name: kinds.name,
  size: kinds.literal(0),
  last_modified: kinds.isoTime,
}))

export const visitedFile = kinds.record('FileOfLink', () => ({
  is_dir: kinds.literal(false),
  file_path: kinds.text('The path below the link.'),
  file_name: kinds.name,
  size: kinds.size,
  last_modified: kinds.isoTime,
  encoded_thumbnail_src: kinds.optional(kinds.text('The path of a thumbnail, if the file can have one.')),
}))

export const uploadAddress = {
  200: json(
    kinds.record('UploadAddress', () => ({ upload_link: kinds.url })),
    'The URL to upload files to, as with `/seafhttp/upload-api/`.',
  ),
}

export const archive = { 200: json(archiveTask, 'The archive.') }

/** How a visitor names the password of a link. Pages use a cookie instead. */
export const visitor = {
  requestHeaders: { 'X-Link-Password': 'The password of the link, if it has one.' },
  query: { password: 'As `X-Link-Password`, for clients that cannot set headers.' },
}

export const folder = { path: { description: 'A folder below the link. Default: the folder of the link.' } }

export const destination = {
  dst_repo_id: { description: 'The id of the target library.' },
  dst_parent_dir: { description: 'The target folder.' },
}

export const copied = (description: string) => ({ 200: json(kinds.successFlag, description) })
