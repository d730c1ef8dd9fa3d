import { kinds, type ValueOf } from '../../../base/schemas/index.ts'

/** Who changed a library last. */
export const modifier = {
  modifier_email: kinds.account,
  modifier_name: kinds.displayName,
  modifier_contact_email: kinds.contactEmail,
  modifier_via_link: kinds.optional(
    kinds.literal(true, {
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
  root: kinds.literal('', { description: 'Always empty. The detail of a library has it.' }),
  head_commit_id: kinds.objectId,
  version: kinds.literal(1, { description: 'The version of the format.' }),
  salt: kinds.text('Empty below encryption version 3.'),
}

const owner = {
  owner: kinds.account,
  owner_name: kinds.displayName,
  owner_contact_email: kinds.contactEmail,
}

export const ownLibrary = kinds.record('OwnLibrary', () => ({
  type: kinds.literal('repo'),
  ...listed,
  ...owner,
  virtual: kinds.literal(false),
}))

export const sharedLibrary = kinds.record('SharedLibrary', () => ({
  type: kinds.literal('srepo'),
  ...listed,
  ...owner,
  owner_nickname: kinds.displayName,
  is_virtual: kinds.flag('Whether it is a folder of another library.'),
  origin_repo_id: kinds.orNull(kinds.libraryId),
  share_type: kinds.literal('personal'),
  group_name: kinds.literal(''),
  is_admin: kinds.flag('Whether the caller may manage its shares.'),
}))

export const groupLibrary = kinds.record('GroupLibrary', () => ({
  type: kinds.literal('grepo'),
  ...listed,
  owner: kinds.text('The name of the group.'),
  group_name: kinds.text('The name of the group.'),
  groupid: kinds.integer('The id of the group.'),
  ...sharer,
}))

export const publicLibrary = kinds.record('PublicLibrary', () => ({
  type: kinds.literal('grepo'),
  ...listed,
  owner: kinds.literal('Organization'),
  share_type: kinds.literal('public'),
  ...sharer,
}))

export const libraryDetail = kinds.record('LibraryDetail', () => ({
  type: kinds.literal('repo'),
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
  enc_version: kinds.optional(kinds.integer('The encryption version, of an encrypted library only.')),
  salt: kinds.optional(kinds.text('Of an encrypted library only.')),
  magic: kinds.optional(kinds.text('Of an encrypted library only.')),
  random_key: kinds.optional(kinds.text('Of an encrypted library only.')),
}))

export const createdLibrary = kinds.record('CreatedLibrary', () => ({
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  repo_size: kinds.size,
  encrypted: kinds.flag(),
  mtime: kinds.unixTime,
  email: kinds.account,
}))

export type CreatedLibrary = ValueOf<typeof createdLibrary>

/** What a sync client needs to start. */
export const syncInfo = kinds.record('SyncInfo', () => ({
  email: kinds.account,
  token: kinds.text('A sync token of the library. Empty for `from=web`.'),
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  repo_desc: kinds.text('The description of the library.'),
  repo_size: kinds.size,
  repo_size_formatted: kinds.sizeText,
  repo_version: kinds.literal(1),
  mtime: kinds.unixTime,
  mtime_relative: kinds.timeElement,
  last_modified: kinds.isoTime,
  encrypted: kinds.anyOf([kinds.literal(1), kinds.literal('')], {
    description: '1 if encrypted, else empty.',
  }),
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
}))

export type SyncInfo = ValueOf<typeof syncInfo>

export const defaultLibrary = kinds.record('DefaultLibrary', () => ({
  exists: kinds.flag(),
  repo_id: kinds.text('The id of the library, or empty.'),
}))

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
  enable_onlyoffice: kinds.literal(false),
}

const v21Owner = {
  owner_email: kinds.account,
  owner_name: kinds.displayName,
  owner_contact_email: kinds.contactEmail,
  owner_avatar: kinds.url,
}

const monitored = kinds.flag('Whether the caller is notified of changes.')

export const v21Library = kinds.anyOf([
  kinds.record('ListedOwnLibrary', () => ({
    type: kinds.literal('mine'),
    ...v21Listed,
    ...v21Owner,
    monitored,
  })),
  kinds.record('ListedSharedLibrary', () => ({
    type: kinds.literal('shared'),
    ...v21Listed,
    ...v21Owner,
    monitored,
    is_admin: kinds.flag('Whether the caller may manage its shares.'),
  })),
  kinds.record('ListedGroupLibrary', () => ({
    type: kinds.literal('group'),
    ...v21Listed,
    monitored,
    group_id: kinds.integer('The id of the group.'),
    group_name: kinds.text('The name of the group.'),
  })),
  kinds.record('ListedPublicLibrary', () => ({ type: kinds.literal('public'), ...v21Listed, ...v21Owner })),
])

export const v21Detail = kinds.record('LibraryDescription', () => ({
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  repo_type: kinds.nothing(),
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
  enable_onlyoffice: kinds.literal(false),
  monitored,
}))

export const keepDays = kinds.record('HistoryLimit', () => ({
  keep_days: kinds.integer('-1 keeps all history.'),
}))

export const encryptedLibraries = {
  enable_encrypted_library: '`True`: clients may create encrypted libraries.',
}
