import { Type } from 'typebox'
import { empty, json, kinds, operation } from '../../openapi/index.ts'
import { listing, listingHeaders, recursiveListing } from './dirent.schema.ts'

const common = {
  id: kinds.objectId,
  name: kinds.name,
  mtime: kinds.unixTime,
  permission: kinds.permission,
  parent_dir: kinds.folderPath,
  starred: kinds.flag(),
}

const folderEntry = kinds.record('FolderEntry', { type: Type.Literal('dir'), ...common })

const fileEntry = kinds.record('FileEntry', {
  type: Type.Literal('file'),
  ...common,
  size: kinds.size,
  modifier_email: kinds.account,
  modifier_name: kinds.displayName,
  modifier_contact_email: kinds.contactEmail,
  modifier_via_link: Type.Optional(
    Type.Literal(true, { description: 'A visitor of a link uploaded it. The modifier created the link.' }),
  ),
  is_locked: kinds.flag(),
  lock_time: kinds.integer('When it was locked, in Unix seconds, or 0.'),
  is_freezed: kinds.flag('Whether the lock does not end by itself.'),
  lock_owner: kinds.text('The account that holds the lock, or empty.'),
  lock_owner_name: kinds.text('Their name, or empty.'),
  lock_owner_contact_email: kinds.text('Their address for mail, or empty.'),
  locked_by_me: kinds.flag(),
  file_tags: Type.Optional(
    Type.Array(
      Type.Object({
        file_tag_id: kinds.integer(),
        repo_tag_id: kinds.integer(),
        tag_name: kinds.text(),
        tag_color: kinds.text(),
      }),
    ),
  ),
  encoded_thumbnail_src: Type.Optional(kinds.text('The path of a thumbnail, with `with_thumbnail`.')),
})

const folderListing = kinds.record('FolderListing', {
  user_perm: kinds.permission,
  dir_id: kinds.objectId,
  since: Type.Optional(kinds.objectId),
  removed: Type.Optional(Type.Array(kinds.name, { description: 'With `since`, the names that are gone.' })),
  dirent_list: Type.Array(Type.Union([folderEntry, fileEntry])),
})

const folderInfo = kinds.record('FolderInfo', {
  type: Type.Literal('dir'),
  repo_id: kinds.libraryId,
  parent_dir: kinds.path,
  obj_name: kinds.name,
  obj_id: kinds.objectId,
  mtime: kinds.isoTime,
})

const reloaded = json(listing, 'With `reloaddir`, the listing of the parent folder.', listingHeaders)
const unchanged = empty('The listing has the tag that `If-None-Match` names.')
const requestHeaders = { 'If-None-Match': 'The `ETag` of an earlier response.' }

const listingParameters = {
  t: { description: '`f` lists only files, `d` only folders.' },
  recursive: { description: '`1` lists everything below.' },
  with_thumbnail: { description: 'Adds the paths of thumbnails.' },
  thumbnail_size: { description: 'The size of those thumbnails in pixels.' },
  with_parents: { description: 'Lists the folders above as well.' },
  since: { description: 'The `dir_id` of an earlier listing. If little changed since, only that is listed.' },
  commit_id: { description: 'As of this commit.' },
  at: { description: 'As of this time, in ISO 8601 or Unix seconds.' },
}

/** Folders. */
export const folderSchemas = [
  operation(
    'GET /api2/repos/:repo_id/dir/',
    {
      200: [
        json(listing, 'The entries, folders first.', listingHeaders),
        json(recursiveListing, 'With `recursive=1`, everything below.'),
        json(Type.Literal('uptodate'), 'The folder has the id that `oid` names.'),
      ],
      304: unchanged,
    },
    { requestHeaders },
  ),
  operation(
    'POST /api2/repos/:repo_id/dir/',
    {
      200: [json(kinds.successWord, 'The folder was renamed.'), reloaded],
      201: json(kinds.successWord, 'The folder was created.', {
        Location: 'The URL of the folder in this API.',
      }),
    },
    {
      parameters: {
        p: { required: true },
        operation: { required: true, description: '`mkdir` or `rename`.' },
        newname: { description: 'For `rename`.' },
        create_parents: { description: 'Creates missing parent folders too.' },
      },
    },
  ),
  operation('DELETE /api2/repos/:repo_id/dir/', {
    200: [json(kinds.successWord, 'The folder was deleted.'), reloaded],
  }),
  operation('GET /api2/repos/:repo_id/dir/metadata/', {
    200: json(kinds.record('FolderId', { id: kinds.objectId }), 'The id of the folder.'),
  }),
  operation(
    'GET /api2/repos/:repo_id/dir/sub_repo/',
    { 200: json(kinds.record('SubLibrary', { sub_repo_id: kinds.libraryId }), 'The folder as a library.') },
    {
      parameters: {
        name: { required: true, description: 'Ignored: the library has the name of the folder.' },
      },
    },
  ),
  operation(
    'GET /api/v2.1/repos/:repo_id/dir/',
    {
      200: [
        json(folderListing, 'The entries, folders first.'),
        json(
          kinds.record('RecursiveListing', { dirent_list: recursiveListing }),
          'With `recursive=1`, everything below.',
        ),
      ],
      304: unchanged,
    },
    { requestHeaders, parameters: listingParameters },
  ),
  operation(
    'POST /api/v2.1/repos/:repo_id/dir/',
    {
      200: [
        json(folderInfo, 'The folder.'),
        json(kinds.successFlag, 'With `operation=revert`, that it was restored.'),
      ],
    },
    {
      errors: [443],
      parameters: {
        newname: { description: 'For `rename`.' },
        commit_id: { description: 'The commit to restore the folder from, for `revert`.' },
      },
    },
  ),
  operation('DELETE /api/v2.1/repos/:repo_id/dir/', {
    200: json(
      kinds.record('FolderDeleted', { success: Type.Literal(true), commit_id: kinds.objectId }),
      'The folder was deleted. `commit_id` is the commit before, which still has it.',
    ),
  }),
  operation('GET /api/v2.1/repos/:repo_id/dir/detail/', {
    200: json(
      kinds.record('FolderDetail', {
        repo_id: kinds.libraryId,
        path: kinds.folderPath,
        name: kinds.name,
        mtime: kinds.isoTime,
        permission: kinds.permission,
        file_count: kinds.count('The number of files below.'),
        size: kinds.size,
      }),
      'The folder.',
    ),
  }),
]
