import { json, kinds, type ValueOf } from '../../../base/schemas/index.ts'
import { modifier } from '../libraries/libraries.schema.ts'

const expiry = {
  expire_date: kinds.optional(kinds.isoTime),
  is_expired: kinds.optional(kinds.flag()),
}

const grant = {
  permission: kinds.permission,
  is_admin: kinds.flag('Whether the recipient may manage shares.'),
  ...expiry,
}

const sharedItem = kinds.anyOf([
  kinds.record('ShareWithUser', () => ({
    share_type: kinds.literal('user'),
    user_info: kinds.object({
      name: kinds.account,
      nickname: kinds.displayName,
      contact_email: kinds.contactEmail,
      avatar_url: kinds.url,
    }),
    ...grant,
  })),
  kinds.record('ShareWithGroup', () => ({
    share_type: kinds.literal('group'),
    group_info: kinds.object({ id: kinds.integer(), name: kinds.text('The name of the group.') }),
    ...grant,
  })),
])

export const sharedItems = { 200: json(kinds.array(sharedItem), 'The shares.') }

export const shareRecord = kinds.record('OlderShare', () => ({
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  repo_desc: kinds.text('The description of the library.'),
  permission: kinds.permission,
  share_type: kinds.oneOfWords(['personal', 'group', 'public']),
  user: kinds.text('The other party.'),
  group_id: kinds.integer('0 unless it is shared with a group.'),
  last_modified: kinds.unixTime,
  size: kinds.size,
  encrypted: kinds.flag(),
  is_virtual: kinds.flag('Whether it is a folder of another library.'),
  origin_repo_id: kinds.orNull(kinds.libraryId),
  origin_path: kinds.orNull(kinds.path),
  is_admin: kinds.flag('Whether the recipient may manage shares.'),
}))

export type OlderShare = ValueOf<typeof shareRecord>

export const shared = {
  200: json(
    kinds.record('ShareResults', () => ({
      success: kinds.array(sharedItem),
      failed: kinds.array(
        kinds.object({
          email: kinds.optional(kinds.text('A user, as it was sent.')),
          group_name: kinds.optional(kinds.text('The name of a group, or its id as it was sent.')),
          error_msg: kinds.text('Why it failed.'),
        }),
      ),
      virtual_repo_id: kinds.orNull(kinds.text('The id of the shared folder or file as a library.')),
    })),
    'The result for each recipient.',
  ),
}

const giver = {
  from_email: kinds.account,
  from_name: kinds.displayName,
  from_contact_email: kinds.contactEmail,
  from_avatar_url: kinds.url,
}

export const heldShares = kinds.record('HeldShares', () => ({
  held_shares: kinds.array(
    kinds.record('HeldShare', () => ({
      name: kinds.text('The name of the library, folder or file.'),
      type: kinds.oneOfWords(['library', 'folder', 'file']),
      permission: kinds.permission,
      is_admin: kinds.flag('Whether the recipient may manage shares.'),
      ...giver,
    })),
  ),
  held_groups: kinds.array(
    kinds.record('HeldMembership', () => ({
      group_id: kinds.integer(),
      group_name: kinds.text('The name of the group.'),
      ...giver,
    })),
  ),
}))

export const heldFrom = {
  from: { description: 'The account that shared. All that it has shared with the caller is meant.' },
  group_id: { description: 'The group, instead of an account.' },
}

export const permission = { description: '`admin` may manage shares as well.' }

export const targets = {
  username: { description: 'The users, if `share_type` is `user`.' },
  group_id: { description: 'The ids of the groups, if `share_type` is `group`.' },
  permission,
}

export const oneTarget = {
  username: { description: 'The user, if `share_type` is `user`.' },
  group_id: { description: 'The id of the group, if `share_type` is `group`.' },
  permission,
}

const recipient = {
  user_name: kinds.optional(kinds.text('The name of the user that it is shared with.')),
  user_email: kinds.optional(kinds.text('The account of that user.')),
  contact_email: kinds.optional(kinds.text('The address for mail of that user.')),
  group_id: kinds.optional(kinds.integer('The id of the group that it is shared with.')),
  group_name: kinds.optional(kinds.text('The name of that group.')),
}

const shareType = kinds.oneOfWords(['personal', 'group', 'public'])

export const sharedLibrary = kinds.record('LibrarySharedOut', () => ({
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  encrypted: kinds.flag(),
  share_type: shareType,
  share_permission: kinds.permission,
  share_permission_name: kinds.literal('', { description: 'An unused constant.' }),
  ...modifier,
  ...recipient,
  is_admin: kinds.flag('Whether the recipient may manage shares.'),
  ...expiry,
}))

export const sharedFolder = kinds.record('FolderSharedOut', () => ({
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  path: kinds.folderPath,
  folder_name: kinds.name,
  share_type: shareType,
  share_permission: kinds.permission,
  share_permission_name: kinds.literal('', { description: 'An unused constant.' }),
  ...recipient,
  is_admin: kinds.flag('Whether the recipient may manage shares.'),
  ...expiry,
}))

export const sharedFiles = kinds.record('SharedFiles', () => ({
  shared_with_me: kinds.array(
    kinds.record('FileSharedWithMe', () => ({
      repo_id: kinds.text('The id of a library that has only this file.'),
      path: kinds.text('The path of the file in that library.'),
      file_name: kinds.name,
      size: kinds.size,
      last_modified: kinds.isoTime,
      permission: kinds.permission,
      share_type: shareType,
      group_id: kinds.optional(kinds.integer('The id of the group that it is shared with.')),
      group_name: kinds.optional(kinds.text('The name of that group.')),
      owner_email: kinds.account,
      owner_name: kinds.displayName,
      share_from: kinds.account,
      share_from_name: kinds.displayName,
      ...expiry,
    })),
  ),
  shared_by_me: kinds.array(
    kinds.record('FileSharedOut', () => ({
      repo_id: kinds.libraryId,
      repo_name: kinds.text('The name of the library.'),
      path: kinds.path,
      file_name: kinds.name,
      share_type: shareType,
      share_permission: kinds.permission,
      ...recipient,
      is_admin: kinds.literal(false),
      ...expiry,
    })),
  ),
}))

export const publicLibrary = kinds.record('LibraryForEveryone', () => ({
  id: kinds.libraryId,
  name: kinds.text('The name of the library.'),
  owner: kinds.account,
  owner_nickname: kinds.displayName,
  owner_name: kinds.displayName,
  mtime: kinds.unixTime,
  mtime_relative: kinds.timeElement,
  size: kinds.size,
  size_formatted: kinds.sizeText,
  encrypted: kinds.flag(),
  permission: kinds.permission,
}))

export const explanation = kinds.record('AccessExplanation', () => ({
  email: kinds.account,
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  path: kinds.path,
  permission: kinds.orNull(kinds.permission),
  is_admin: kinds.flag('Whether the user may manage shares.'),
  is_owner: kinds.flag('Whether the user owns the library.'),
  is_active: kinds.flag('Whether the account is active.'),
  status: kinds.oneOfWords(['normal', 'read-only'], 'The status of the library.'),
  open_as: kinds.orNull(
    kinds.text('The id by which the user reaches the path: the library, or a shared folder.'),
  ),
  reason: kinds.text('One sentence in English.'),
  grants: kinds.array(
    kinds.object({
      share_type: shareType,
      group_id: kinds.optional(kinds.integer('The id of the group.')),
      group_name: kinds.optional(kinds.text('The name of the group.')),
      path: kinds.text('The path that is shared.'),
      permission: kinds.permission,
      is_admin: kinds.flag('Whether it lets the user manage shares.'),
      reaches: kinds.flag('Whether it applies to the path.'),
      decides: kinds.flag('Whether the permission is that of this share.'),
    }),
  ),
}))

export const batchParty = {
  repo_id: kinds.text('The id of the library, as it was sent.'),
  username: kinds.optional(kinds.text('The user.')),
}

export const olderTarget = {
  share_type: { description: '`personal`, `group` or `public`.' },
  user: { description: 'The users, separated by commas, for `personal`.' },
  users: { description: 'As `user`.' },
  group_id: { description: 'The ids of the groups, separated by commas, for `group`.' },
}

export const done = (description: string) => ({ 200: json(kinds.successFlag, description) })
