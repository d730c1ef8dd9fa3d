import type { Library, Permission } from '../../../libraries/library/index.ts'
import type { LibraryInfo } from '../../../libraries/registry/index.ts'
import type { Person } from '../../../people/accounts/index.ts'
import { type Parties, personIn } from '../common/parties.ts'
import { formatSize, isoTime, relativeTime } from '../common/wire-formats.ts'
import type { CreatedLibrary, SyncInfo } from './libraries.schema.ts'
import type { Listed } from './library-list.ts'

const FORMAT_VERSION = 1

// Constants of a removed protocol, which older clients still read.
const RELAY = {
  relay_id: '44e8f253849ad910dc142247227c8ece8ec0f971',
  relay_addr: '127.0.0.1',
  relay_port: 80,
}

export const NO_ACCESS = 'You do not have permission to access this library.'

/** A library in `GET /api2/repos/`: owned, shared with the caller, with a group, or with everyone. */
export function libraryItem(listed: Listed, parties: Parties, now: number) {
  const { library, owner, modifier, shared } = listed
  const common = {
    type: itemTypes[listed.relation],
    id: library.id,
    name: library.name,
    // This listing shows owners `rw` even for a read-only library, as existing clients expect.
    permission: shared === undefined && library.status === 'read-only' ? 'rw' : listed.permission,
    mtime: library.updatedAt,
    mtime_relative: relativeTime(library.updatedAt, now),
    ...modifierFields(modifier, library),
    size: library.size,
    size_formatted: formatSize(library.size),
    encrypted: library.encrypted,
    root: '',
    head_commit_id: library.head,
    version: FORMAT_VERSION,
    salt: library.salt,
  }
  const owned = {
    owner: owner.email,
    owner_name: owner.name,
    owner_contact_email: owner.contactEmail,
  }
  if (shared === undefined) return { ...common, ...owned, virtual: false }
  if (listed.relation === 'shared') {
    return {
      ...common,
      ...owned,
      owner_nickname: owner.name,
      is_virtual: shared.info.sub !== undefined,
      origin_repo_id: shared.info.sub?.origin.id ?? null,
      share_type: 'personal',
      group_name: '',
      is_admin: shared.isAdmin,
    }
  }
  const sharer = personIn(parties, shared.grantedBy)
  const from = {
    share_from: sharer.email,
    share_from_name: sharer.name,
    share_from_contact_email: sharer.contactEmail,
  }
  if (listed.relation === 'public') return { ...common, owner: 'Organization', share_type: 'public', ...from }
  const name = parties.groups.get(shared.granteeKey)?.name ?? ''
  return { ...common, owner: name, group_name: name, groupid: shared.granteeKey, ...from }
}

const itemTypes = { mine: 'repo', shared: 'srepo', group: 'grepo', public: 'grepo' } as const

/** One library in `GET /api2/repos/<id>/`. */
export function libraryDetail(library: Library, modifier: Person) {
  const { info } = library
  return {
    type: 'repo',
    id: info.id,
    owner: library.isOwner ? 'self' : 'share',
    name: info.name,
    mtime: info.updatedAt,
    size: info.size,
    encrypted: info.encryption !== undefined,
    root: info.root,
    permission: library.permission,
    ...modifierFields(modifier, info),
    file_count: info.fileCount,
    head_commit_id: info.head,
    ...(info.encryption && {
      enc_version: info.encryption.version,
      salt: info.encryption.salt,
      magic: info.encryption.magic,
      random_key: info.encryption.randomKey,
    }),
  }
}

/** The data that a sync client starts with: the response to creation in `/api2/`, and to `download-info`. */
export function syncInfo(
  library: LibraryInfo,
  details: { email: string; permission: Permission; syncToken: string; now: number },
): SyncInfo {
  const { encryption } = library
  return {
    email: details.email,
    token: details.syncToken,
    repo_id: library.id,
    repo_name: library.name,
    repo_desc: library.description,
    repo_size: library.size,
    repo_size_formatted: formatSize(library.size),
    repo_version: FORMAT_VERSION,
    mtime: library.updatedAt,
    mtime_relative: relativeTime(library.updatedAt, details.now),
    last_modified: isoTime(library.updatedAt),
    // Not a boolean, unlike in listings: existing clients compare with these two values.
    encrypted: encryption === undefined ? '' : 1,
    enc_version: encryption?.version ?? 0,
    salt: encryption?.salt ?? '',
    magic: encryption?.magic ?? '',
    random_key: encryption?.randomKey ?? '',
    pwd_hash: encryption?.pwdHash ?? '',
    pwd_hash_algo: encryption?.pwdHashAlgo ?? '',
    pwd_hash_params: encryption?.pwdHashParams ?? '',
    head_commit_id: library.head,
    permission: details.permission,
    ...RELAY,
  }
}

/** The response to creation in `/api/v2.1/`. */
export function createdLibrary(library: LibraryInfo, email: string): CreatedLibrary {
  return {
    repo_id: library.id,
    repo_name: library.name,
    repo_size: library.size,
    encrypted: library.encryption !== undefined,
    mtime: library.updatedAt,
    email,
  }
}

/** A library in `GET /api/v2.1/repos/`. */
export function libraryItemV21(
  { relation, library, owner, modifier, permission, shared }: Listed,
  parties: Parties,
  shown: { starred: boolean; monitored: boolean; avatar: string },
) {
  return {
    type: relation,
    repo_id: library.id,
    repo_name: library.name,
    ...(relation === 'group'
      ? { group_id: shared?.granteeKey, group_name: parties.groups.get(shared?.granteeKey ?? 0)?.name ?? '' }
      : { ...ownerFields(owner), owner_avatar: shown.avatar }),
    last_modified: isoTime(library.updatedAt),
    ...modifierFields(modifier, library),
    size: library.size,
    encrypted: library.encrypted,
    permission,
    starred: shown.starred,
    ...(relation !== 'public' && { monitored: shown.monitored }),
    status: library.status,
    salt: library.salt,
    enable_onlyoffice: false,
    ...(relation === 'shared' && { is_admin: shared?.isAdmin ?? false }),
  }
}

/** One library in `GET /api/v2.1/repos/<id>/`. */
export function libraryDetailV21(
  library: Library,
  owner: Person,
  shown: { noQuota: boolean; monitored: boolean; avatar: string; isOpen: boolean; sharedOut: boolean },
) {
  const { info } = library
  return {
    repo_id: info.id,
    repo_name: info.name,
    repo_type: null,
    ...ownerFields(owner),
    owner_avatar: shown.avatar,
    size: info.size,
    encrypted: info.encryption !== undefined,
    file_count: info.fileCount,
    permission: library.permission,
    no_quota: shown.noQuota,
    is_admin: library.isAdmin,
    is_virtual: info.sub !== undefined,
    has_been_shared_out: shown.sharedOut,
    lib_need_decrypt: !shown.isOpen,
    last_modified: isoTime(info.updatedAt),
    status: info.status,
    enable_onlyoffice: false,
    monitored: shown.monitored,
  }
}

/** A deleted library, as its owner sees it. */
export function deletedLibraryItem(library: LibraryInfo, owner: Person) {
  return {
    repo_id: library.id,
    ...ownerFields(owner),
    repo_name: library.name,
    org_id: -1,
    head_commit_id: library.head,
    encrypted: library.encryption !== undefined,
    del_time: isoTime(library.deletedAt ?? 0),
    size: library.size,
  }
}

export function ownerFields(owner: Person) {
  return { owner_email: owner.email, owner_name: owner.name, owner_contact_email: owner.contactEmail }
}

/** The author of the head commit. If a visitor of a link made it, the creator of the link. */
export function modifierFields(
  modifier: Person,
  { modifierViaLink }: Pick<LibraryInfo, 'modifierViaLink'>,
): ModifierFields {
  return {
    modifier_email: modifier.email,
    modifier_name: modifier.name,
    modifier_contact_email: modifier.contactEmail,
    ...(modifierViaLink && { modifier_via_link: true }),
  }
}

interface ModifierFields {
  readonly modifier_email: string
  readonly modifier_name: string
  readonly modifier_contact_email: string
  readonly modifier_via_link?: true
}
