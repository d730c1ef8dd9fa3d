import { empty, json, kinds } from '../../../base/schemas/index.ts'
import { listing, listingHeaders } from './dirent.schema.ts'

const common = {
  id: kinds.objectId,
  name: kinds.name,
  mtime: kinds.unixTime,
  permission: kinds.permission,
  parent_dir: kinds.folderPath,
  starred: kinds.flag(),
}

const folderEntry = kinds.record('FolderEntry', () => ({ type: kinds.literal('dir'), ...common }))

const fileEntry = kinds.record('FileEntry', () => ({
  type: kinds.literal('file'),
  ...common,
  size: kinds.size,
  modifier_email: kinds.account,
  modifier_name: kinds.displayName,
  modifier_contact_email: kinds.contactEmail,
  modifier_via_link: kinds.optional(
    kinds.literal(true, { description: 'A visitor of a link uploaded it. The modifier created the link.' }),
  ),
  is_locked: kinds.flag(),
  lock_time: kinds.integer('When it was locked, in Unix seconds, or 0.'),
  is_freezed: kinds.flag('Whether the lock does not end by itself.'),
  lock_owner: kinds.text('The account that holds the lock, or empty.'),
  lock_owner_name: kinds.text('Their name, or empty.'),
  lock_owner_contact_email: kinds.text('Their address for mail, or empty.'),
  locked_by_me: kinds.flag(),
  file_tags: kinds.optional(
    kinds.array(
      kinds.object({
        file_tag_id: kinds.integer(),
        repo_tag_id: kinds.integer(),
        tag_name: kinds.text(),
        tag_color: kinds.text(),
      }),
    ),
  ),
  encoded_thumbnail_src: kinds.optional(kinds.text('The path of a thumbnail, with `with_thumbnail`.')),
}))

export const folderListing = kinds.record('FolderListing', () => ({
  user_perm: kinds.permission,
  dir_id: kinds.objectId,
  since: kinds.optional(kinds.objectId),
  removed: kinds.optional(kinds.array(kinds.name, { description: 'With `since`, the names that are gone.' })),
  dirent_list: kinds.array(kinds.anyOf([folderEntry, fileEntry])),
}))

export const folderInfo = kinds.record('FolderInfo', () => ({
  type: kinds.literal('dir'),
  repo_id: kinds.libraryId,
  parent_dir: kinds.path,
  obj_name: kinds.name,
  obj_id: kinds.objectId,
  mtime: kinds.isoTime,
}))

export const reloaded = json(listing, 'With `reloaddir`, the listing of the parent folder.', listingHeaders)
export const unchanged = empty('The listing has the tag that `If-None-Match` names.')
export const requestHeaders = { 'If-None-Match': 'The `ETag` of an earlier response.' }

export const listingParameters = {
  t: { description: '`f` lists only files, `d` only folders.' },
  recursive: { description: '`1` lists everything below.' },
  with_thumbnail: { description: 'Adds the paths of thumbnails.' },
  thumbnail_size: { description: 'The size of those thumbnails in pixels.' },
  with_parents: { description: 'Lists the folders above as well.' },
  since: { description: 'The `dir_id` of an earlier listing. If little changed since, only that is listed.' },
  commit_id: { description: 'As of this commit.' },
  at: { description: 'As of this time, in ISO 8601 or Unix seconds.' },
}
