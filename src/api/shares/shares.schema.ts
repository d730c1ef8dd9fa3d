import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'
import { person } from '../accounts/accounts.schema.ts'

const expiry = {
  expire_date: Type.Optional(kinds.isoTime),
  is_expired: Type.Optional(kinds.flag()),
}

const grant = {
  permission: kinds.permission,
  is_admin: kinds.flag('Whether the recipient may manage shares.'),
  ...expiry,
}

const sharedItem = Type.Union([
  kinds.record('ShareWithUser', {
    share_type: Type.Literal('user'),
    user_info: Type.Object({
      name: kinds.account,
      nickname: kinds.displayName,
      contact_email: kinds.contactEmail,
      avatar_url: kinds.url,
    }),
    ...grant,
  }),
  kinds.record('ShareWithGroup', {
    share_type: Type.Literal('group'),
    group_info: Type.Object({ id: kinds.integer(), name: kinds.text('The name of the group.') }),
    ...grant,
  }),
])

const sharedItems = { 200: json(Type.Array(sharedItem), 'The shares.') }

const shareRecord = kinds.record('OlderShare', {
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
})

const done = (description: string) => ({ 200: json(kinds.successFlag, description) })

/** Shares. */
export const shareSchemas = [
  operation('GET /api2/repos/:repo_id/dir/shared_items/', sharedItems),
  operation('POST /api2/repos/:repo_id/dir/shared_items/', done('The share was changed.')),
  operation('DELETE /api2/repos/:repo_id/dir/shared_items/', done('The share was ended.')),
  operation('GET /api/v2.1/repos/:repo_id/file/shared-items/', sharedItems),
  operation('DELETE /api/v2.1/repos/:repo_id/file/shared-items/', done('The share was ended.')),
  operation('GET /api2/beshared-repos/', {
    200: json(Type.Array(shareRecord), 'What was shared with the caller.'),
  }),
  operation('DELETE /api2/beshared-repos/:repo_id/', done('The caller left the share.')),
  operation('GET /api2/shared-repos/', { 200: json(Type.Array(shareRecord), 'What the caller shared.') }),
  operation('PUT /api/v2.1/shared-repos/:repo_id/', done('The share was changed.')),
  operation('DELETE /api/v2.1/shared-repos/:repo_id/', done('The share was ended.')),
  operation('GET /api/v2.1/repos/:repo_id/related-users/', {
    200: json(kinds.record('RelatedUsers', { user_list: Type.Array(person) }), 'The users.'),
  }),
  operation('GET /api/v2.1/repos/:repo_id/share-info/', {
    200: json(
      kinds.record('ShareInfo', {
        shared_user_emails: Type.Array(kinds.account),
        shared_group_ids: Type.Array(kinds.integer()),
      }),
      'Whom the library is shared with.',
    ),
  }),
]
