import { type Static, Type } from 'typebox'
import { empty, json, kinds, operation } from '../../openapi/index.ts'

/** Who changed a library last. */
export const modifier = {
  modifier_email: kinds.account,
  modifier_name: kinds.displayName,
  modifier_contact_email: kinds.contactEmail,
  modifier_via_link: Type.Optional(
    Type.Literal(true, {
      description: 'A visitor of a link made the last change. The modifier created the link.',
    }),
  ),
}

const sharer = {
  share_from: kinds.account,
  share_from_name: kinds.displayName,
  share_from_contact_email: kinds.contactEmail,
}

const listed = {
  id: kinds.libraryId,
  name: kinds.text('The name of the library.'),
  permission: kinds.permission,
  mtime: kinds.unixTime,
  mtime_relative: kinds.timeElement,
  ...modifier,
  size: kinds.size,
  size_formatted: kinds.sizeText,
  encrypted: kinds.flag(),
  root: Type.Literal('', { description: 'Always empty. The detail of a library has it.' }),
  head_commit_id: kinds.objectId,
  version: Type.Literal(1, { description: 'The version of the format.' }),
  salt: kinds.text('Empty below encryption version 3.'),
}

const owner = {
  owner: kinds.account,
  owner_name: kinds.displayName,
  owner_contact_email: kinds.contactEmail,
}

const ownLibrary = kinds.record('OwnLibrary', {
  type: Type.Literal('repo'),
  ...listed,
  ...owner,
  virtual: Type.Literal(false),
})

const sharedLibrary = kinds.record('SharedLibrary', {
  type: Type.Literal('srepo'),
  ...listed,
  ...owner,
  owner_nickname: kinds.displayName,
  is_virtual: kinds.flag('Whether it is a folder of another library.'),
  origin_repo_id: kinds.orNull(kinds.libraryId),
  share_type: Type.Literal('personal'),
  group_name: Type.Literal(''),
  is_admin: kinds.flag('Whether the caller may manage its shares.'),
})

const groupLibrary = kinds.record('GroupLibrary', {
  type: Type.Literal('grepo'),
  ...listed,
  owner: kinds.text('The name of the group.'),
  group_name: kinds.text('The name of the group.'),
  groupid: kinds.integer('The id of the group.'),
  ...sharer,
})

const publicLibrary = kinds.record('PublicLibrary', {
  type: Type.Literal('grepo'),
  ...listed,
  owner: Type.Literal('Organization'),
  share_type: Type.Literal('public'),
  ...sharer,
})

const libraryDetail = kinds.record('LibraryDetail', {
  type: Type.Literal('repo'),
  id: kinds.libraryId,
  owner: kinds.oneOfWords(['self', 'share'], 'Whether the caller owns it.'),
  name: kinds.text('The name of the library.'),
  mtime: kinds.unixTime,
  size: kinds.size,
  encrypted: kinds.flag(),
  root: kinds.objectId,
  permission: kinds.permission,
  ...modifier,
  file_count: kinds.count('The number of files.'),
  head_commit_id: kinds.objectId,
  enc_version: Type.Optional(kinds.integer('The encryption version, of an encrypted library only.')),
  salt: Type.Optional(kinds.text('Of an encrypted library only.')),
  magic: Type.Optional(kinds.text('Of an encrypted library only.')),
  random_key: Type.Optional(kinds.text('Of an encrypted library only.')),
})

const createdLibrary = kinds.record('CreatedLibrary', {
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  repo_size: kinds.size,
  encrypted: kinds.flag(),
  mtime: kinds.unixTime,
  email: kinds.account,
})

export type CreatedLibrary = Static<typeof createdLibrary>

/** What a sync client needs to start. */
export const syncInfo = kinds.record('SyncInfo', {
  email: kinds.account,
  token: kinds.text('A sync token of the library. Empty for `from=web`.'),
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  repo_desc: kinds.text('The description of the library.'),
  repo_size: kinds.size,
  repo_size_formatted: kinds.sizeText,
  repo_version: Type.Literal(1),
  mtime: kinds.unixTime,
  mtime_relative: kinds.timeElement,
  last_modified: kinds.isoTime,
  encrypted: Type.Union([Type.Literal(1), Type.Literal('')], { description: '1 if encrypted, else empty.' }),
  enc_version: kinds.integer('0 of a plain library.'),
  salt: kinds.text('Empty below encryption version 3.'),
  magic: kinds.text('Empty of a plain library.'),
  random_key: kinds.text('Empty of a plain library.'),
  pwd_hash: kinds.text('The hash of the password, if it has an algorithm of its own.'),
  pwd_hash_algo: kinds.text('The algorithm of that hash.'),
  pwd_hash_params: kinds.text('The parameters of that algorithm.'),
  head_commit_id: kinds.objectId,
  permission: kinds.permission,
  relay_id: kinds.text('An unused constant.'),
  relay_addr: kinds.text('An unused constant.'),
  relay_port: kinds.integer('An unused constant.'),
})

export type SyncInfo = Static<typeof syncInfo>

const defaultLibrary = kinds.record('DefaultLibrary', {
  exists: kinds.flag(),
  repo_id: kinds.text('The id of the library, or empty.'),
})

const v21Listed = {
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  last_modified: kinds.isoTime,
  ...modifier,
  size: kinds.size,
  encrypted: kinds.flag(),
  permission: kinds.permission,
  starred: kinds.flag(),
  status: kinds.oneOfWords(['normal', 'read-only']),
  salt: kinds.text('Empty below encryption version 3.'),
  enable_onlyoffice: Type.Literal(false),
}

const v21Owner = {
  owner_email: kinds.account,
  owner_name: kinds.displayName,
  owner_contact_email: kinds.contactEmail,
  owner_avatar: kinds.url,
}

const monitored = kinds.flag('Whether the caller is notified of changes.')

const v21Library = Type.Union([
  kinds.record('ListedOwnLibrary', { type: Type.Literal('mine'), ...v21Listed, ...v21Owner, monitored }),
  kinds.record('ListedSharedLibrary', {
    type: Type.Literal('shared'),
    ...v21Listed,
    ...v21Owner,
    monitored,
    is_admin: kinds.flag('Whether the caller may manage its shares.'),
  }),
  kinds.record('ListedGroupLibrary', {
    type: Type.Literal('group'),
    ...v21Listed,
    monitored,
    group_id: kinds.integer('The id of the group.'),
    group_name: kinds.text('The name of the group.'),
  }),
  kinds.record('ListedPublicLibrary', { type: Type.Literal('public'), ...v21Listed, ...v21Owner }),
])

const v21Detail = kinds.record('LibraryDescription', {
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  repo_type: Type.Null(),
  ...v21Owner,
  size: kinds.size,
  encrypted: kinds.flag(),
  file_count: kinds.count('The number of files.'),
  permission: kinds.permission,
  no_quota: kinds.flag('Whether the owner is out of quota.'),
  is_admin: kinds.flag('Whether the caller may manage its shares.'),
  is_virtual: kinds.flag('Whether it is a folder of another library.'),
  has_been_shared_out: kinds.flag(),
  lib_need_decrypt: kinds.flag('Whether it needs its password first.'),
  last_modified: kinds.isoTime,
  status: kinds.oneOfWords(['normal', 'read-only']),
  enable_onlyoffice: Type.Literal(false),
  monitored,
})

const keepDays = kinds.record('HistoryLimit', { keep_days: kinds.integer('-1 keeps all history.') })

const encryptedLibraries = { enable_encrypted_library: '`True`: clients may create encrypted libraries.' }

/** The libraries themselves: listing, creating, describing, and changing them. */
export const librarySchemas = [
  operation(
    'GET /api2/repos/',
    {
      200: json(
        Type.Array(Type.Union([ownLibrary, sharedLibrary, groupLibrary, publicLibrary])),
        'The libraries.',
        encryptedLibraries,
      ),
      304: empty('The list has the tag that `If-None-Match` names.', encryptedLibraries),
    },
    { requestHeaders: { 'If-None-Match': 'The `ETag` of an earlier response.' } },
  ),
  operation(
    'POST /api2/repos/',
    { 200: json(syncInfo, 'The new library.') },
    {
      parameters: {
        name: { required: true, description: 'The name of the library.' },
        desc: { description: 'A description.' },
        passwd: { description: 'Encrypts the library with this password.' },
        repo_id: {
          description: 'The id of a library that the client encrypts. The values below belong to it.',
        },
        enc_version: {
          description: '0, 1 and 2 create a library of encryption version 2; 3 and 4 need `salt`.',
        },
        magic: { description: 'Verifies the password.' },
        random_key: { description: 'The encrypted key of the content.' },
        salt: { description: 'Since encryption version 3.' },
        from: { description: '`web`: no sync token is issued.' },
      },
    },
  ),
  operation(
    'POST /api/v2.1/repos/',
    { 200: json(createdLibrary, 'The new library.') },
    {
      parameters: {
        repo_name: { description: 'The name of the library. `name` does as well.' },
        passwd: { description: 'Encrypts the library with this password.' },
      },
    },
  ),
  operation(
    'GET /api/v2.1/repos/',
    {
      200: json(kinds.record('LibraryList', { repos: Type.Array(v21Library) }), 'The libraries.'),
      304: empty('The list has the tag that `If-None-Match` names.'),
    },
    { requestHeaders: { 'If-None-Match': 'The `ETag` of an earlier response.' } },
  ),
  operation('GET /api/v2.1/repos/:repo_id/', { 200: json(v21Detail, 'The library.') }),
  operation('DELETE /api/v2.1/repos/:repo_id/', {
    200: [
      json(kinds.successWord, 'The library was deleted.'),
      json(kinds.successFlag, 'There is no such library any more.'),
    ],
  }),
  operation('GET /api2/repos/:repo_id/', { 200: json(libraryDetail, 'The library.') }),
  operation('DELETE /api2/repos/:repo_id/', { 200: json(kinds.successWord, 'The library was deleted.') }),
  operation(
    'POST /api2/repos/:repo_id/',
    {
      200: json(
        Type.Union([kinds.successWord, Type.Literal('unsupported operation')]),
        'The operation was done, or is unknown.',
      ),
    },
    {
      errors: [409, 440, 441],
      parameters: {
        op: { description: '`rename`, `setpassword` or `checkpassword`. Default: `setpassword`.' },
        magic: { description: 'For `checkpassword`, in the query or in the body.' },
        repo_name: { description: 'The new name, for `rename`.' },
        repo_desc: { description: 'The new description, for `rename`.' },
        password: { description: 'For `setpassword`.' },
      },
    },
  ),
  operation('GET /api2/repos/:repo_id/owner/', {
    200: json(kinds.record('LibraryOwner', { owner: kinds.account }), 'The owner.'),
  }),
  operation(
    'PUT /api2/repos/:repo_id/owner/',
    { 200: json(kinds.successFlag, 'The library was transferred.') },
    { errors: [443], parameters: { owner: { description: 'The account that becomes the owner.' } } },
  ),
  operation('GET /api2/repos/:repo_id/history-limit/', { 200: json(keepDays, 'The limit.') }),
  operation(
    'PUT /api2/repos/:repo_id/history-limit/',
    { 200: json(keepDays, 'The new limit.') },
    {
      parameters: {
        keep_days: { required: true, description: 'Days. A negative number keeps all history.' },
      },
    },
  ),
  operation('GET /api2/repos/:repo_id/download-info/', { 200: json(syncInfo, 'The library.') }),
  operation(
    'GET /api2/repo-tokens/',
    {
      200: json(
        kinds.mapOf(
          kinds.text('A sync token.'),
          'By id of the library. Those that the caller cannot open are left out.',
        ),
        'The sync tokens.',
      ),
    },
    { parameters: { repos: { required: true, description: 'The ids of libraries, separated by commas.' } } },
  ),
  operation(
    'POST /api/v2.1/repos/:repo_id/set-password/',
    { 200: json(kinds.successFlag, 'The library is unlocked.') },
    { parameters: { password: { required: true, description: 'The password of the library.' } } },
  ),
  operation(
    'PUT /api/v2.1/repos/:repo_id/set-password/',
    { 200: json(kinds.successFlag, 'The password was changed.') },
    {
      parameters: {
        operation: { description: 'Only `change-password`, which is the default.' },
        old_password: { required: true, description: 'The password until now.' },
        new_password: { required: true, description: 'The new password.' },
      },
    },
  ),
  operation('DELETE /api/v2.1/repos/:repo_id/set-password/', {
    200: json(kinds.successFlag, 'The library is locked.'),
  }),
  operation('GET /api2/default-repo/', { 200: json(defaultLibrary, 'The default library of the caller.') }),
  operation('POST /api2/default-repo/', { 200: json(defaultLibrary, 'The default library of the caller.') }),
]
