import { json, kinds, ranged } from '../../../base/schemas/index.ts'
import { listing, listingHeaders } from '../folders/dirent.schema.ts'

const viaLink = (who: string) =>
  kinds.optional(
    kinds.literal(true, { description: `The ${who} is a visitor of a link, whose creator is named.` }),
  )

export const fileDetail = kinds.record('FileDetail', () => ({
  type: kinds.literal('file'),
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
}))

export const fileInfo = kinds.record('FileInfo', () => ({
  type: kinds.literal('file'),
  repo_id: kinds.libraryId,
  parent_dir: kinds.path,
  obj_name: kinds.name,
  obj_id: kinds.objectId,
  size: kinds.size,
  mtime: kinds.isoTime,
  is_locked: kinds.flag(),
  can_preview: kinds.flag('Whether the web app can show it.'),
  can_edit: kinds.flag('Whether the web app can edit it.'),
}))

export const itemLock = kinds.record('ItemLock', () => ({
  path: kinds.path,
  with_content: kinds.flag('Whether it covers everything in a folder.'),
  lock_owner: kinds.account,
  lock_owner_name: kinds.displayName,
  lock_time: kinds.unixTime,
  expires_at: kinds.orNull(kinds.unixTime),
}))

export const fileBlocks = kinds.record('FileBlocks', () => ({
  file_id: kinds.objectId,
  blklist: kinds.array(kinds.objectId),
  encrypted: kinds.flag(),
  enc_version: kinds.integer('0 of a plain library.'),
}))

export const reloaddir = { reloaddir: { description: 'Answers with the listing of the folder instead.' } }
export const reloaded = json(listing, 'With `reloaddir`, the listing of the folder.', listingHeaders)
export const location = { Location: 'The URL of the file in this API.' }
export const moment = {
  commit_id: { description: 'As of this commit.' },
  at: { description: 'As of this time, in ISO 8601 or Unix seconds.' },
}
export const changes = {
  newname: { description: 'For `rename`.' },
  dst_repo: { description: 'The target library, for `move` and `copy`.' },
  dst_dir: { description: 'The target folder, for `move` and `copy`.' },
}

export const archiveEntry = kinds.record('ArchiveEntry', () => ({
  path: kinds.text('The path under which it is extracted, or its name if that is unsafe.'),
  is_dir: kinds.flag(),
  size: kinds.size,
  packed_size: kinds.count('Its size in the archive, in bytes.'),
  mtime: kinds.integer('In Unix seconds. 0 if it is unknown.'),
  refusal: kinds.oneOfWords(['', 'name', 'link', 'password', 'method'], 'Why it is not extracted, or empty.'),
}))

export const thumbnail = ranged('image/jpeg', 'The thumbnail')
export const thumbnailSize = { description: 'The length of the longer side in pixels, up to 2048.' }
