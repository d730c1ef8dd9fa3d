import { type Static, Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'
import { modifier } from '../libraries/libraries.schema.ts'

/** The fields of every group. */
export const briefGroup = {
  id: kinds.integer('The id of the group.'),
  parent_group_id: Type.Literal(0, { description: 'An unused constant.' }),
  name: kinds.text('The name of the group.'),
  owner: kinds.text('The account of the owner. Empty if it was deleted.'),
  created_at: kinds.isoTime,
}

const group = {
  ...briefGroup,
  admins: Type.Array(kinds.account),
  group_quota_usage: Type.Literal(0, { description: 'Groups have no quota.' }),
}

const groupRecord = kinds.record('Group', group)
const groupName = kinds.record('BriefGroup', briefGroup)

export type BriefGroup = Static<typeof groupName>

const owner = {
  owner_email: kinds.account,
  owner_name: kinds.displayName,
  owner_contact_email: kinds.contactEmail,
}

const status = kinds.text('`normal` or `read-only`.')

const groupRepo = kinds.record('LibraryOfGroup', {
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
  monitored: Type.Literal(false),
  status,
  archive_status: Type.Null(),
})

/** A library that is shared with a group. */
export const groupLibrary = kinds.record('SharedWithGroup', {
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
  monitored: Type.Literal(false),
})

const olderGroupLibrary = kinds.record('OlderSharedWithGroup', {
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
})

/** A member of a group. */
export const member = kinds.record('GroupMember', {
  group_id: kinds.integer('The id of the group.'),
  email: kinds.account,
  name: kinds.displayName,
  contact_email: kinds.contactEmail,
  avatar_url: kinds.url,
  login_id: kinds.text('The login id, or empty.'),
  is_admin: kinds.flag('Whether they administer the group.'),
  role: kinds.oneOfWords(['Owner', 'Admin', 'Member']),
})

export type GroupMember = Static<typeof member>

/** What became of several accounts that were added. */
export const addedMembers = kinds.record('AddedMembers', {
  failed: Type.Array(
    Type.Object({
      email: kinds.account,
      email_name: kinds.displayName,
      error_msg: kinds.text('Why it failed.'),
    }),
  ),
  success: Type.Array(member),
})

const success = (description: string) => ({ 200: json(kinds.successFlag, description) })

const olderGroup = {
  id: kinds.integer('The id of the group.'),
  name: kinds.text('The name of the group.'),
  creator: kinds.text('The account of the owner. Empty if it was deleted.'),
  ctime: kinds.integer('In microseconds since 1970.'),
}

// Only one call names its errors so.
const refusal = kinds.record('GroupRefusal', { error: kinds.text('Why it was refused.') })

/** Groups. */
export const groupSchemas = [
  operation('GET /api/v2.1/groups/', {
    200: json(
      Type.Array(
        kinds.record('GroupWithLibraries', {
          ...group,
          repos: Type.Optional(Type.Array(groupRepo, { description: 'With `with_repos=1`.' })),
        }),
      ),
      'The groups.',
    ),
  }),
  operation('POST /api/v2.1/groups/', { 201: json(groupRecord, 'The new group.') }),
  operation('GET /api/v2.1/groups/:group_id/', { 200: json(groupRecord, 'The group.') }),
  operation('PUT /api/v2.1/groups/:group_id/', { 200: json(groupRecord, 'The changed group.') }),
  operation('DELETE /api/v2.1/groups/:group_id/', success('The group was deleted.')),
  operation('GET /api/v2.1/groups/:group_id/libraries/', {
    200: json(Type.Array(groupLibrary), 'The libraries, latest change first.'),
  }),
  operation('POST /api/v2.1/groups/:group_id/libraries/', { 200: json(groupLibrary, 'The new library.') }),
  operation('DELETE /api/v2.1/groups/:group_id/libraries/:repo_id/', success('The share was ended.')),
  operation('GET /api/v2.1/groups/:group_id/members/', { 200: json(Type.Array(member), 'The members.') }),
  operation('POST /api/v2.1/groups/:group_id/members/', { 201: json(member, 'The new member.') }),
  operation('POST /api/v2.1/groups/:group_id/members/bulk/', {
    200: json(addedMembers, 'The result for each account.'),
  }),
  operation('GET /api/v2.1/groups/:group_id/members/:email/', { 200: json(member, 'The member.') }),
  operation('PUT /api/v2.1/groups/:group_id/members/:email/', { 200: json(member, 'The changed member.') }),
  operation('DELETE /api/v2.1/groups/:group_id/members/:email/', success('The member was removed.')),
  operation('GET /api/v2.1/groups/:group_id/search-member/', {
    200: json(Type.Array(member), 'The members that match.'),
  }),
  operation('GET /api/v2.1/search-group/', { 200: json(Type.Array(groupName), 'The groups that match.') }),
  operation('GET /api/v2.1/shareable-groups/', { 200: json(Type.Array(groupName), 'The groups.') }),
  operation('GET /api2/groups/', {
    200: [
      json(
        kinds.record('OlderGroups', {
          groups: Type.Array(Type.Object({ ...olderGroup, msgnum: Type.Literal(0) })),
          replynum: Type.Literal(0),
        }),
        'The groups.',
      ),
      json(
        Type.Array(kinds.record('OlderGroup', { ...olderGroup, avatar: kinds.url })),
        'With `with_msg=false`, the first `limit` of them.',
      ),
    ],
  }),
  operation(
    'PUT /api2/groups/',
    {
      200: json(
        kinds.record('CreatedGroup', {
          success: Type.Literal(true),
          group_id: kinds.integer('The id of the group.'),
        }),
        'The new group.',
      ),
      400: json(refusal, 'The name is invalid or taken.'),
      403: json(refusal, 'The caller may not create groups.'),
    },
    { parameters: { group_name: { required: true, description: 'The name of the group.' } } },
  ),
  operation('GET /api2/groups/:group_id/repos/', {
    200: json(Type.Array(olderGroupLibrary), 'The libraries.'),
  }),
  operation('POST /api2/groups/:group_id/repos/', { 200: json(olderGroupLibrary, 'The new library.') }),
  operation('DELETE /api2/groups/:group_id/repos/:repo_id/', {
    200: json(kinds.successWord, 'The share was ended.'),
  }),
  operation('POST /api2/groups/:group_id/', success('The group was renamed.')),
  operation('DELETE /api2/groups/:group_id/', success('The group was deleted.')),
  operation('PUT /api2/groups/:group_id/members/', success('The member was added.')),
  operation('DELETE /api2/groups/:group_id/members/', success('The member was removed.')),
]
