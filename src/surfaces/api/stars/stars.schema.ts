import { kinds } from '../../../base/schemas/index.ts'

export const starredItem = kinds.record('StarredItem', () => ({
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  repo_encrypted: kinds.flag(),
  is_dir: kinds.flag(),
  path: kinds.text('The path. That of a folder ends with a slash.'),
  obj_name: kinds.text('The name of the item, or of the library.'),
  mtime: kinds.text('ISO 8601 with the offset from UTC. Empty if the item is gone.'),
  deleted: kinds.flag('Whether the item is gone.'),
  user_email: kinds.account,
  user_name: kinds.displayName,
  user_contact_email: kinds.contactEmail,
}))

export const starredFile = kinds.record('StarredFile', () => ({
  org: kinds.literal(-1, { description: 'An unused constant.' }),
  repo: kinds.libraryId,
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  repo_encrypted: kinds.flag(),
  path: kinds.path,
  file_name: kinds.name,
  icon_path: kinds.text('An unused constant.'),
  mtime: kinds.unixTime,
  mtime_relative: kinds.timeElement,
  dir: kinds.literal(false),
  oid: kinds.objectId,
  size: kinds.size,
}))

export const needed = { repo_id: { required: true }, p: { required: true } } as const
