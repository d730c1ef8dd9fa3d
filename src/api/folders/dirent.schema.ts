import { Type } from 'typebox'
import { kinds } from '../../openapi/index.ts'

const common = {
  id: kinds.objectId,
  name: kinds.name,
  mtime: kinds.unixTime,
  permission: kinds.permission,
}

const folderDirent = kinds.record('FolderDirent', { type: Type.Literal('dir'), ...common })

const ofFile = {
  size: kinds.size,
  modifier_email: kinds.account,
  modifier_name: kinds.displayName,
  modifier_contact_email: kinds.contactEmail,
  is_locked: kinds.flag(),
  lock_owner: kinds.text('The account that holds the lock, or empty.'),
  lock_owner_name: Type.Optional(kinds.displayName),
  lock_time: kinds.integer('When it was locked, in Unix seconds, or 0.'),
  locked_by_me: kinds.flag(),
}

const fileDirent = kinds.record('FileDirent', {
  type: Type.Literal('file'),
  ...common,
  ...ofFile,
  starred: kinds.flag(),
})

const below = { parent_dir: kinds.folderPath }

/** Everything below a folder, in both versions. */
export const recursiveListing = Type.Array(
  Type.Union([
    kinds.record('FolderBelow', { type: Type.Literal('dir'), ...common, ...below }),
    kinds.record('FileBelow', { type: Type.Literal('file'), ...common, ...ofFile, ...below }),
  ]),
)

/** A listing in the form of `/api2/`. */
export const listing = Type.Array(Type.Union([folderDirent, fileDirent]))

/** The headers of a listing in `/api2/`. */
export const listingHeaders = {
  oid: 'The id of the folder.',
  dir_perm: 'The permission of the caller in it.',
}
