import { kinds } from '../../../base/schemas/index.ts'

const common = {
  id: kinds.objectId,
  name: kinds.name,
  mtime: kinds.unixTime,
  permission: kinds.permission,
}

const folderDirent = kinds.record('FolderDirent', () => ({ type: kinds.literal('dir'), ...common }))

const ofFile = {
  size: kinds.size,
  modifier_email: kinds.account,
  modifier_name: kinds.displayName,
  modifier_contact_email: kinds.contactEmail,
  is_locked: kinds.flag(),
  lock_owner: kinds.text('The account that holds the lock, or empty.'),
  lock_owner_name: kinds.optional(kinds.displayName),
  lock_time: kinds.integer('When it was locked, in Unix seconds, or 0.'),
  locked_by_me: kinds.flag(),
}

const fileDirent = kinds.record('FileDirent', () => ({
  type: kinds.literal('file'),
  ...common,
  ...ofFile,
  starred: kinds.flag(),
}))

const below = { parent_dir: kinds.folderPath }

/** Everything below a folder, in both versions. */
export const recursiveListing = kinds.array(
  kinds.anyOf([
    kinds.record('FolderBelow', () => ({ type: kinds.literal('dir'), ...common, ...below })),
    kinds.record('FileBelow', () => ({ type: kinds.literal('file'), ...common, ...ofFile, ...below })),
  ]),
)

/** A listing in the form of `/api2/`. */
export const listing = kinds.array(kinds.anyOf([folderDirent, fileDirent]))

/** The headers of a listing in `/api2/`. */
export const listingHeaders = {
  oid: 'The id of the folder.',
  dir_perm: 'The permission of the caller in it.',
}
