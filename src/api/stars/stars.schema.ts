import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

const starredItem = kinds.record('StarredItem', {
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
})

const starredFile = kinds.record('StarredFile', {
  org: Type.Literal(-1, { description: 'An unused constant.' }),
  repo: kinds.libraryId,
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  repo_encrypted: kinds.flag(),
  path: kinds.path,
  file_name: kinds.name,
  icon_path: kinds.text('An unused constant.'),
  mtime: kinds.unixTime,
  mtime_relative: kinds.timeElement,
  dir: Type.Literal(false),
  oid: kinds.objectId,
  size: kinds.size,
})

const needed = { repo_id: { required: true }, p: { required: true } } as const

/** Stars. */
export const starSchemas = [
  operation('GET /api/v2.1/starred-items/', {
    200: json(
      kinds.record('StarredItems', { starred_item_list: Type.Array(starredItem) }),
      'Libraries first, then folders, then files.',
    ),
  }),
  operation('POST /api/v2.1/starred-items/', { 200: json(starredItem, 'The item.') }),
  operation('DELETE /api/v2.1/starred-items/', { 200: json(kinds.successFlag, 'The star was removed.') }),
  operation('GET /api2/starredfiles/', { 200: json(Type.Array(starredFile), 'The files.') }),
  operation(
    'POST /api2/starredfiles/',
    { 201: json(kinds.successWord, 'The file has a star.') },
    { parameters: needed },
  ),
  operation(
    'DELETE /api2/starredfiles/',
    { 200: json(kinds.successWord, 'The file has no star.') },
    { parameters: needed },
  ),
]
