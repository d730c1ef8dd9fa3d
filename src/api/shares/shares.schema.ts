import { type Static, Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'
import { person } from '../accounts/accounts.schema.ts'
import { modifier, syncInfo } from '../libraries/libraries.schema.ts'

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

export type OlderShare = Static<typeof shareRecord>

const shared = {
  200: json(
    kinds.record('ShareResults', {
      success: Type.Array(sharedItem),
      failed: Type.Array(
        Type.Object({
          email: Type.Optional(kinds.text('A user, as it was sent.')),
          group_name: Type.Optional(kinds.text('The name of a group, or its id as it was sent.')),
          error_msg: kinds.text('Why it failed.'),
        }),
      ),
      virtual_repo_id: kinds.orNull(kinds.text('The id of the shared folder or file as a library.')),
    }),
    'The result for each recipient.',
  ),
}

const giver = {
  from_email: kinds.account,
  from_name: kinds.displayName,
  from_contact_email: kinds.contactEmail,
  from_avatar_url: kinds.url,
}

const heldShares = kinds.record('HeldShares', {
  held_shares: Type.Array(
    kinds.record('HeldShare', {
      name: kinds.text('The name of the library, folder or file.'),
      type: kinds.oneOfWords(['library', 'folder', 'file']),
      permission: kinds.permission,
      is_admin: kinds.flag('Whether the recipient may manage shares.'),
      ...giver,
    }),
  ),
  held_groups: Type.Array(
    kinds.record('HeldMembership', {
      group_id: kinds.integer(),
      group_name: kinds.text('The name of the group.'),
      ...giver,
    }),
  ),
})

const heldFrom = {
  from: { description: 'The account that shared. All that it has shared with the caller is meant.' },
  group_id: { description: 'The group, instead of an account.' },
}

const permission = { description: '`admin` may manage shares as well.' }

const targets = {
  username: { description: 'The users, if `share_type` is `user`.' },
  group_id: { description: 'The ids of the groups, if `share_type` is `group`.' },
  permission,
}

const oneTarget = {
  username: { description: 'The user, if `share_type` is `user`.' },
  group_id: { description: 'The id of the group, if `share_type` is `group`.' },
  permission,
}

const recipient = {
  user_name: Type.Optional(kinds.text('The name of the user that it is shared with.')),
  user_email: Type.Optional(kinds.text('The account of that user.')),
  contact_email: Type.Optional(kinds.text('The address for mail of that user.')),
  group_id: Type.Optional(kinds.integer('The id of the group that it is shared with.')),
  group_name: Type.Optional(kinds.text('The name of that group.')),
}

const shareType = kinds.oneOfWords(['personal', 'group', 'public'])

const sharedLibrary = kinds.record('LibrarySharedOut', {
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  encrypted: kinds.flag(),
  share_type: shareType,
  share_permission: kinds.permission,
  share_permission_name: Type.Literal('', { description: 'An unused constant.' }),
  ...modifier,
  ...recipient,
  is_admin: kinds.flag('Whether the recipient may manage shares.'),
  ...expiry,
})

const sharedFolder = kinds.record('FolderSharedOut', {
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  path: kinds.folderPath,
  folder_name: kinds.name,
  share_type: shareType,
  share_permission: kinds.permission,
  share_permission_name: Type.Literal('', { description: 'An unused constant.' }),
  ...recipient,
  is_admin: kinds.flag('Whether the recipient may manage shares.'),
  ...expiry,
})

const sharedFiles = kinds.record('SharedFiles', {
  shared_with_me: Type.Array(
    kinds.record('FileSharedWithMe', {
      repo_id: kinds.text('The id of a library that has only this file.'),
      path: kinds.text('The path of the file in that library.'),
      file_name: kinds.name,
      size: kinds.size,
      last_modified: kinds.isoTime,
      permission: kinds.permission,
      share_type: shareType,
      group_id: Type.Optional(kinds.integer('The id of the group that it is shared with.')),
      group_name: Type.Optional(kinds.text('The name of that group.')),
      owner_email: kinds.account,
      owner_name: kinds.displayName,
      share_from: kinds.account,
      share_from_name: kinds.displayName,
      ...expiry,
    }),
  ),
  shared_by_me: Type.Array(
    kinds.record('FileSharedOut', {
      repo_id: kinds.libraryId,
      repo_name: kinds.text('The name of the library.'),
      path: kinds.path,
      file_name: kinds.name,
      share_type: shareType,
      share_permission: kinds.permission,
      ...recipient,
      is_admin: Type.Literal(false),
      ...expiry,
    }),
  ),
})

const publicLibrary = kinds.record('LibraryForEveryone', {
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
})

const explanation = kinds.record('AccessExplanation', {
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
  grants: Type.Array(
    Type.Object({
      share_type: shareType,
      group_id: Type.Optional(kinds.integer('The id of the group.')),
      group_name: Type.Optional(kinds.text('The name of the group.')),
      path: kinds.text('The path that is shared.'),
      permission: kinds.permission,
      is_admin: kinds.flag('Whether it lets the user manage shares.'),
      reaches: kinds.flag('Whether it applies to the path.'),
      decides: kinds.flag('Whether the permission is that of this share.'),
    }),
  ),
})

const batchParty = {
  repo_id: kinds.text('The id of the library, as it was sent.'),
  username: Type.Optional(kinds.text('The user.')),
}

const olderTarget = {
  share_type: { description: '`personal`, `group` or `public`.' },
  user: { description: 'The users, separated by commas, for `personal`.' },
  users: { description: 'As `user`.' },
  group_id: { description: 'The ids of the groups, separated by commas, for `group`.' },
}

const done = (description: string) => ({ 200: json(kinds.successFlag, description) })

/** Shares. */
export const shareSchemas = [
  operation('GET /api2/repos/:repo_id/dir/shared_items/', sharedItems),
  operation('PUT /api2/repos/:repo_id/dir/shared_items/', shared, { parameters: targets }),
  operation('POST /api2/repos/:repo_id/dir/shared_items/', done('The share was changed.'), {
    parameters: oneTarget,
  }),
  operation('DELETE /api2/repos/:repo_id/dir/shared_items/', done('The share was ended.'), {
    parameters: oneTarget,
  }),
  operation('GET /api/v2.1/repos/:repo_id/file/shared-items/', sharedItems),
  operation('PUT /api/v2.1/repos/:repo_id/file/shared-items/', shared, { parameters: targets }),
  operation('POST /api/v2.1/repos/:repo_id/file/shared-items/', done('The share was changed.'), {
    parameters: oneTarget,
  }),
  operation('DELETE /api/v2.1/repos/:repo_id/file/shared-items/', done('The share was ended.'), {
    parameters: oneTarget,
  }),
  operation('GET /api2/beshared-repos/', {
    200: json(Type.Array(shareRecord), 'What was shared with the caller.'),
  }),
  operation('DELETE /api2/beshared-repos/:repo_id/', done('The caller left the share.')),
  operation('GET /api2/shared-repos/', { 200: json(Type.Array(shareRecord), 'What the caller shared.') }),
  operation(
    'PUT /api2/shared-repos/:repo_id/',
    { 200: json(kinds.successWord, 'The library is shared.') },
    { parameters: { ...olderTarget, permission } },
  ),
  operation(
    'DELETE /api2/shared-repos/:repo_id/',
    { 200: json(kinds.successWord, 'The share was ended.') },
    { parameters: olderTarget },
  ),
  operation('GET /api/v2.1/shared-repos/', {
    200: json(Type.Array(sharedLibrary), 'The libraries, by name.'),
  }),
  operation('GET /api/v2.1/shared-folders/', {
    200: json(Type.Array(sharedFolder), 'The folders, by name.'),
  }),
  operation('GET /api/v2.1/held-shares/', { 200: json(heldShares, 'What waits for acceptance.') }),
  operation(
    'POST /api/v2.1/held-shares/',
    { 200: json(kinds.successFlag, 'It was accepted.') },
    { parameters: heldFrom },
  ),
  operation(
    'DELETE /api/v2.1/held-shares/',
    { 200: json(kinds.successFlag, 'It was declined.') },
    { parameters: heldFrom },
  ),
  operation('GET /api/v2.1/shared-files/', { 200: json(sharedFiles, 'The files.') }),
  operation('GET /api2/repos/public/', { 200: json(Type.Array(publicLibrary), 'The libraries.') }),
  operation(
    'POST /api2/repos/public/',
    { 201: json(syncInfo, 'The new library.') },
    {
      parameters: {
        name: { required: true, description: 'The name of the library.' },
        desc: { description: 'A description.' },
        passwd: { description: 'Encrypts the library with this password.' },
        permission: { description: 'What everyone may do: `r` or `rw`. Default: `rw`.' },
      },
    },
  ),
  operation(
    'POST /api/v2.1/repos/batch/',
    {
      200: json(
        kinds.record('SharedLibraries', {
          failed: Type.Array(
            Type.Object({
              ...batchParty,
              group_id: Type.Optional(
                Type.Union([kinds.integer(), kinds.text()], {
                  description: 'The id of the group, or the submitted value if there is no such group.',
                }),
              ),
              error_msg: kinds.text('Why it failed.'),
            }),
          ),
          success: Type.Array(
            Type.Object({
              ...batchParty,
              group_id: Type.Optional(kinds.integer('The id of the group.')),
              permission: kinds.oneOfWords(['r', 'rw', 'admin']),
            }),
          ),
        }),
        'The result for each library and recipient.',
      ),
    },
    {
      parameters: {
        repo_id: { description: 'The ids of the libraries.' },
        ...targets,
      },
    },
  ),
  operation('PUT /api/v2.1/shared-repos/:repo_id/', done('The share was changed.')),
  operation('DELETE /api/v2.1/shared-repos/:repo_id/', done('The share was ended.')),
  operation('GET /api/v2.1/repos/:repo_id/related-users/', {
    200: json(kinds.record('RelatedUsers', { user_list: Type.Array(person) }), 'The users.'),
  }),
  operation('GET /api/v2.1/repos/:repo_id/shared-entries/', {
    200: json(
      kinds.record('SharedEntries', {
        shared: Type.Array(kinds.path, { description: 'Those that are shared with users or groups.' }),
        linked: Type.Array(kinds.path, { description: 'Those that have links.' }),
      }),
      'The paths.',
    ),
  }),
  operation('GET /api/v2.1/repos/:repo_id/custom-share-permissions/', {
    200: json(
      kinds.record('CustomPermissions', {
        permission_list: Type.Array(kinds.text(), { description: 'Always empty.', maxItems: 0 }),
      }),
      'An empty list.',
    ),
  }),
  operation(
    'GET /api/v2.1/repos/:repo_id/access-explanation/',
    { 200: json(explanation, 'The permission and the shares that it follows from.') },
    { parameters: { email: { description: 'The account.' } } },
  ),
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
