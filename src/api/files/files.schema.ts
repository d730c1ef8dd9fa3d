import { Type } from 'typebox'
import { empty, json, kinds, operation, ranged, rangeRequestHeaders } from '../../openapi/index.ts'
import { listing, listingHeaders } from '../folders/dirent.schema.ts'

const viaLink = (who: string) =>
  Type.Optional(
    Type.Literal(true, { description: `The ${who} is a visitor of a link, whose creator is named.` }),
  )

const fileDetail = kinds.record('FileDetail', {
  type: Type.Literal('file'),
  id: kinds.objectId,
  name: kinds.name,
  permission: kinds.permission,
  size: kinds.size,
  mtime: kinds.unixTime,
  last_modified: kinds.isoTime,
  starred: kinds.flag(),
  last_modifier_email: kinds.account,
  last_modifier_name: kinds.displayName,
  last_modifier_contact_email: kinds.contactEmail,
  last_modifier_via_link: viaLink('modifier'),
  uploader_email: kinds.account,
  uploader_name: kinds.displayName,
  uploader_contact_email: kinds.contactEmail,
  uploader_via_link: viaLink('uploader'),
  upload_time: kinds.isoTime,
  last_modifier_avatar: kinds.url,
  comment_total: kinds.count('The number of comments.'),
  can_edit: kinds.flag('Whether the web app can edit it.'),
})

const fileInfo = kinds.record('FileInfo', {
  type: Type.Literal('file'),
  repo_id: kinds.libraryId,
  parent_dir: kinds.path,
  obj_name: kinds.name,
  obj_id: kinds.objectId,
  size: kinds.size,
  mtime: kinds.isoTime,
  is_locked: kinds.flag(),
  can_preview: kinds.flag('Whether the web app can show it.'),
  can_edit: kinds.flag('Whether the web app can edit it.'),
})

const itemLock = kinds.record('ItemLock', {
  path: kinds.path,
  with_content: kinds.flag('Whether it covers everything in a folder.'),
  lock_owner: kinds.account,
  lock_owner_name: kinds.displayName,
  lock_time: kinds.unixTime,
  expires_at: kinds.orNull(kinds.unixTime),
})

/** The new location of a file or folder. */
export const placed = kinds.record('Placed', {
  repo_id: kinds.libraryId,
  parent_dir: kinds.folderPath,
  obj_name: kinds.text('The name, with a number if the name was taken.'),
})

const fileBlocks = kinds.record('FileBlocks', {
  file_id: kinds.objectId,
  blklist: Type.Array(kinds.objectId),
  encrypted: kinds.flag(),
  enc_version: kinds.integer('0 of a plain library.'),
})

const reloaddir = { reloaddir: { description: 'Answers with the listing of the folder instead.' } }
const reloaded = json(listing, 'With `reloaddir`, the listing of the folder.', listingHeaders)
const location = { Location: 'The URL of the file in this API.' }
const moment = {
  commit_id: { description: 'As of this commit.' },
  at: { description: 'As of this time, in ISO 8601 or Unix seconds.' },
}
const changes = {
  newname: { description: 'For `rename`.' },
  dst_repo: { description: 'The target library, for `move` and `copy`.' },
  dst_dir: { description: 'The target folder, for `move` and `copy`.' },
}

const archiveEntry = kinds.record('ArchiveEntry', {
  path: kinds.text('The path under which it is extracted, or its name if that is unsafe.'),
  is_dir: kinds.flag(),
  size: kinds.size,
  packed_size: kinds.count('Its size in the archive, in bytes.'),
  mtime: kinds.integer('In Unix seconds. 0 if it is unknown.'),
  refusal: kinds.oneOfWords(['', 'name', 'link', 'password', 'method'], 'Why it is not extracted, or empty.'),
})

const thumbnail = ranged('image/jpeg', 'The thumbnail')
const thumbnailSize = { description: 'The length of the longer side in pixels, up to 2048.' }

/** Files. */
export const fileSchemas = [
  operation(
    'GET /api/v2.1/repos/:repo_id/file/archive-entries/',
    {
      200: json(
        kinds.record('ArchiveEntries', {
          id: kinds.objectId,
          entries: Type.Array(archiveEntry),
          total: kinds.count('The number of all entries. The list may be shorter.'),
        }),
        'The entries.',
      ),
    },
    { errors: [422], parameters: moment },
  ),
  operation(
    'POST /api/v2.1/repos/:repo_id/file/extract-archive/',
    {
      200: json(
        kinds.record('ExtractionTask', { task_id: kinds.text('The id of the background task.') }),
        'The task.',
      ),
    },
    {
      parameters: {
        p: { description: 'The path of the archive.' },
        base: { description: 'A folder in the archive. Default: its root.' },
        names: { description: 'Names in that folder. Default: all.' },
        folder_name: { description: 'Creates a folder of this name for the entries.' },
        dst_repo_id: { description: 'The id of the target library.' },
        dst_parent_dir: { description: 'The target folder.' },
      },
    },
  ),
  operation(
    'GET /api2/repos/:repo_id/thumbnail/',
    { ...thumbnail, 204: empty('The file contains no picture.') },
    {
      requestHeaders: rangeRequestHeaders,
      parameters: { p: { required: true }, size: { required: true, ...thumbnailSize } },
    },
  ),
  operation(
    'GET /thumbnail/:where/create/',
    {
      200: json(
        kinds.record('ThumbnailPath', { encoded_thumbnail_src: kinds.text('The path of the thumbnail.') }),
        'The thumbnail.',
      ),
      400: json(
        kinds.record('ThumbnailRefusal', { error: kinds.text('Why it was refused.') }),
        'The size or the path is invalid.',
      ),
      500: json(
        kinds.record('ThumbnailFailure', { err_msg: kinds.text('What failed.') }),
        'The thumbnail could not be created.',
      ),
    },
    {
      parameters: {
        where: { description: 'The id of a library, or the token of a share link, which needs no account.' },
        path: { required: true },
        size: thumbnailSize,
      },
    },
  ),
  operation('GET /thumbnail/:where/:size/', thumbnail, {
    requestHeaders: rangeRequestHeaders,
    parameters: {
      where: { description: 'The id of a library, or the token of a share link, which needs no account.' },
      size: { description: 'The length of the longer side in pixels. The path of the file follows.' },
    },
  }),
  operation(
    'GET /api2/repos/:repo_id/file/',
    {
      200: [
        json(kinds.url, 'A URL to download the file.', { oid: 'The id of the file.' }),
        json(fileBlocks, 'With `op=downloadblks`, the ids of its blocks.'),
      ],
    },
    {
      parameters: {
        p: { required: true },
        reuse: { description: '`1`: the URL can be used more than once.' },
        op: { description: '`download` or `downloadblks`. Default: `download`.' },
        ...moment,
      },
    },
  ),
  operation(
    'GET /api2/repos/:repo_id/file/detail/',
    { 200: json(fileDetail, 'The file.') },
    { parameters: moment },
  ),
  operation(
    'GET /api2/repos/:repo_id/file/metadata/',
    {
      200: json(kinds.record('FileId', { id: kinds.objectId }), 'The id of the file.'),
    },
    { parameters: { p: { required: true } } },
  ),
  operation(
    'GET /api/v2.1/repos/:repo_id/file/',
    { 200: json(fileInfo, 'The file.') },
    { parameters: moment },
  ),
  operation(
    'PUT /api/v2.1/repos/:repo_id/file/',
    { 200: json(fileInfo, 'The file.') },
    {
      parameters: {
        expire: {
          description: 'Seconds until the lock ends; 0 for the default of the server, negative for never.',
        },
      },
    },
  ),
  operation(
    'DELETE /api/v2.1/repos/:repo_id/file/',
    {
      200: json(
        kinds.record('FileDeleted', {
          success: Type.Literal(true),
          commit_id: Type.Optional(kinds.objectId),
        }),
        'The file is gone. `commit_id` is the commit before, which still has it.',
      ),
    },
    { errors: [423] },
  ),
  operation(
    'GET /api/v2.1/repos/:repo_id/file/text/',
    {
      200: json(
        kinds.record('FileText', {
          id: kinds.objectId,
          name: kinds.name,
          text: kinds.text('The text of the document.'),
          truncated: kinds.flag('Whether the document has more text.'),
        }),
        'The text.',
      ),
    },
    { errors: [422], parameters: moment },
  ),
  operation(
    'POST /api/v2.1/repos/:repo_id/file/',
    {
      200: [
        json(fileInfo, 'The file.'),
        json(kinds.successFlag, 'With `operation=revert`, that it was done.'),
      ],
    },
    {
      errors: [409, 443],
      parameters: { ...changes, commit_id: { description: 'The commit to revert to, for `revert`.' } },
    },
  ),
  operation(
    'POST /api2/repos/:repo_id/file/',
    {
      200: [
        json(placed, 'The copy.', location),
        json(kinds.successWord, 'The file is already there.'),
        reloaded,
      ],
      201: json(kinds.successWord, 'The file was created.', location),
      301: [json(kinds.successWord, 'The file was renamed.', location), json(placed, 'The file was moved.')],
    },
    {
      errors: [409, 443, 520],
      parameters: {
        p: { required: true },
        operation: { required: true, description: '`rename`, `create`, `move` or `copy`.' },
        ...changes,
        ...reloaddir,
      },
    },
  ),
  operation('GET /api/v2.1/repos/:repo_id/locks/', {
    200: json(Type.Object({ lock_list: Type.Array(itemLock) }), 'The locks in effect.'),
  }),
  operation('DELETE /api/v2.1/repos/:repo_id/locks/', {
    200: json(kinds.successFlag, 'The item has no lock.'),
  }),
  operation(
    'PUT /api2/repos/:repo_id/file/',
    { 200: json(kinds.successWord, 'The file was locked or unlocked.') },
    {
      parameters: {
        p: { required: true },
        operation: { required: true, description: '`lock` or `unlock`.' },
        expire: {
          description: 'Seconds until the lock ends; 0 for the default of the server, negative for never.',
        },
      },
    },
  ),
  operation(
    'DELETE /api2/repos/:repo_id/file/',
    { 200: [json(kinds.successWord, 'The file or folder is gone.'), reloaded] },
    { parameters: { p: { required: true }, ...reloaddir } },
  ),
]
