import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'
import { archiveTask } from '../transfers/transfers.schema.ts'

const visitedFolder = kinds.record('FolderOfLink', {
  is_dir: Type.Literal(true),
  folder_path: kinds.text('The path below the link. It ends with a slash.'),
  folder_name: kinds.name,
  size: Type.Literal(0),
  last_modified: kinds.isoTime,
})

const visitedFile = kinds.record('FileOfLink', {
  is_dir: Type.Literal(false),
  file_path: kinds.text('The path below the link.'),
  file_name: kinds.name,
  size: kinds.size,
  last_modified: kinds.isoTime,
  encoded_thumbnail_src: Type.Optional(kinds.text('The path of a thumbnail, if the file can have one.')),
})

const uploadAddress = {
  200: json(
    kinds.record('UploadAddress', { upload_link: kinds.url }),
    'The URL to upload files to, as with `/seafhttp/upload-api/`.',
  ),
}

const archive = { 200: json(archiveTask, 'The archive.') }

/** How a visitor names the password of a link. Pages use a cookie instead. */
const visitor = {
  requestHeaders: { 'X-Link-Password': 'The password of the link, if it has one.' },
  query: { password: 'As `X-Link-Password`, for clients that cannot set headers.' },
}

const folder = { path: { description: 'A folder below the link. Default: the folder of the link.' } }

const destination = {
  dst_repo_id: { description: 'The id of the target library.' },
  dst_parent_dir: { description: 'The target folder.' },
}

const copied = (description: string) => ({ 200: json(kinds.successFlag, description) })

/** The calls of visitors of a link. */
export const linkVisitSchemas = [
  operation(
    'GET /api/v2.1/share-links/:token/dirents/',
    {
      200: json(
        kinds.record('ListingOfLink', {
          dirent_list: Type.Array(Type.Union([visitedFolder, visitedFile])),
          dir_path: kinds.folderPath,
        }),
        'The entries, folders first.',
      ),
    },
    {
      ...visitor,
      parameters: { ...folder, thumbnail_size: { description: 'The size of thumbnails in pixels.' } },
    },
  ),
  operation('GET /api/v2.1/share-links/:token/upload/', uploadAddress, {
    ...visitor,
    errors: [443],
    parameters: folder,
  }),
  operation('GET /api/v2.1/upload-links/:token/upload/', uploadAddress, {
    ...visitor,
    errors: [443],
    parameters: { path: { description: 'Only `/`, the folder of the link.' } },
  }),
  operation('POST /api/v2.1/share-links/:token/upload/done/', copied('The report has no effect.'), visitor),
  operation('POST /api/v2.1/share-links/:token/save-file-to-repo/', copied('The file was copied.'), {
    ...visitor,
    errors: [443],
    parameters: {
      ...destination,
      path: { description: 'The file below the link. Default: the file of the link.' },
    },
  }),
  operation('POST /api/v2.1/share-links/:token/save-items-to-repo/', copied('The entries were copied.'), {
    ...visitor,
    errors: [443],
    parameters: {
      ...destination,
      src_parent_dir: { description: 'The folder below the link that has the entries.' },
      src_dirents: { description: 'Names in that folder.' },
    },
  }),
  operation('GET /api/v2.1/share-link-zip-task/', archive, {
    ...visitor,
    parameters: { ...folder, share_link_token: { description: 'The token of the link.' } },
  }),
  operation('POST /api/v2.1/share-link-zip-task/', archive, {
    ...visitor,
    parameters: {
      token: { description: 'The token of the link.' },
      parent_dir: { description: 'A folder below the link.' },
      dirents: { description: 'Names in that folder.' },
    },
  }),
]
