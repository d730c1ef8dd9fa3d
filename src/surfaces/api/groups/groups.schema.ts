import { json, kinds, type ValueOf } from '../../../base/schemas/index.ts'
import { modifier } from '../libraries/libraries.schema.ts'

/** The fields of every group. */
export const briefGroup = {
  id: kinds.integer('The id of the group.'),
  parent_group_id: kinds.literal(0, { description: 'An unused constant.' }),
  name: kinds.text('The name of the group.'),
  owner: kinds.text('The account of the owner. Empty if it was deleted.'),
  created_at: kinds.isoTime,
}

export const group = {
  ...briefGroup,
  admins: kinds.array(kinds.account),
  group_quota_usage: kinds.literal(0, { description: 'Groups have no quota.' }),
}

export const groupRecord = kinds.record('Group', () => group)
export const groupName = kinds.record('BriefGroup', () => briefGroup)

export type BriefGroup = ValueOf<typeof groupName>

const owner = {
  owner_email: kinds.account,
  owner_name: kinds.displayName,
  owner_contact_email: kinds.contactEmail,
}

const status = kinds.text('`normal` or `read-only`.')

export const groupRepo = kinds.record('LibraryOfGroup', () => ({
  id: kinds.libraryId,
  repo_id: kinds.libraryId,
  name: kinds.text('The name of the library.'),
  repo_name: kinds.text('The name of the library.'),
  size: kinds.size,
  size_formatted: kinds.sizeText,
  mtime: kinds.unixTime,
  mtime_relative: kinds.timeElement,
  last_modified: kinds.isoTime,
  encrypted: kinds.flag(),
  permission: kinds.permission,
  owner: kinds.account,
  ...owner,
  is_admin: kinds.flag('Whether the share lets the group manage it.'),
  starred: kinds.flag(),
  monitored: kinds.literal(false),
  status,
  archive_status: kinds.nothing(),
}))

/** A library that is shared with a group. */
export const groupLibrary = kinds.record('SharedWithGroup', () => ({
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  mtime: kinds.isoTime,
  last_modified: kinds.isoTime,
  permission: kinds.permission,
  size: kinds.size,
  encrypted: kinds.flag(),
  is_admin: kinds.flag('Whether the share lets the group manage it.'),
  ...owner,
  ...modifier,
  starred: kinds.flag(),
  monitored: kinds.literal(false),
}))

export const olderGroupLibrary = kinds.record('OlderSharedWithGroup', () => ({
  id: kinds.libraryId,
  name: kinds.text('The name of the library.'),
  desc: kinds.text('The description of the library.'),
  size: kinds.size,
  size_formatted: kinds.sizeText,
  mtime: kinds.unixTime,
  mtime_relative: kinds.timeElement,
  encrypted: kinds.flag(),
  permission: kinds.permission,
  owner: kinds.account,
  owner_nickname: kinds.displayName,
  owner_name: kinds.displayName,
  share_from_me: kinds.flag('Whether the caller shared it.'),
  ...modifier,
}))

/** A member of a group. */
export const member = kinds.record('GroupMember', () => ({
  group_id: kinds.integer('The id of the group.'),
  email: kinds.account,
  name: kinds.displayName,
  contact_email: kinds.contactEmail,
  avatar_url: kinds.url,
  login_id: kinds.text('The login id, or empty.'),
  is_admin: kinds.flag('Whether they administer the group.'),
  role: kinds.oneOfWords(['Owner', 'Admin', 'Member']),
}))

export type GroupMember = ValueOf<typeof member>

/** What became of several accounts that were added. */
export const addedMembers = kinds.record('AddedMembers', () => ({
  failed: kinds.array(
    kinds.object({
      email: kinds.account,
      email_name: kinds.displayName,
      error_msg: kinds.text('Why it failed.'),
    }),
  ),
  success: kinds.array(member),
}))

export const success = (description: string) => ({ 200: json(kinds.successFlag, description) })

export const olderGroup = {
  id: kinds.integer('The id of the group.'),
  name: kinds.text('The name of the group.'),
  creator: kinds.text('The account of the owner. Empty if it was deleted.'),
  ctime: kinds.integer('In microseconds since 1970.'),
}

// Only one call names its errors so.
export const refusal = kinds.record('GroupRefusal', () => ({ error: kinds.text('Why it was refused.') }))
