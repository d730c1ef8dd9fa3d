import type { LibraryId } from '../../base/objects/index.ts'
import { baseName, type LibraryPath, parentOf } from '../../base/paths/index.ts'

/** The types of notifications. */
export type NoticeType =
  | 'add_user_to_group'
  | 'credential_added'
  | 'deleted_files'
  | 'file_comment'
  | 'file_uploaded'
  | 'folder_uploaded'
  | 'repo_monitor'
  | 'repo_share'
  | 'repo_share_perm_change'
  | 'repo_share_perm_delete'
  | 'repo_share_to_group'
  | 'repo_transfer'

/**
 * The content of a notification in wire names, which depend on the type. A key that ends in `_email` holds an
 * account, whose name, contact e-mail and picture are added when it is shown.
 */
export type NoticeDetail = Readonly<Record<string, string | number | boolean | null | readonly string[]>>

/** A notification to be added: `notifications.put(tx, keys, ...repoTransfer(library, from))`. */
export type Notice = readonly [type: NoticeType, detail: NoticeDetail]

interface NamedLibrary {
  readonly id: LibraryId
  readonly name: string
}

/** What the visitor of an upload link said about themself. */
interface Visitor {
  readonly name: string
  readonly message: string
}

interface NamedGroup {
  readonly id: number
  readonly name: string
}

/** To the new owner of a library. */
export function repoTransfer(library: NamedLibrary, fromEmail: string): Notice {
  return ['repo_transfer', { ...named(library), transfer_from_user_email: fromEmail }]
}

/** To the grantee of a share of a library, or of the folder at `path`. */
export function repoShare(
  library: NamedLibrary,
  share: {
    readonly fromEmail: string
    readonly path: LibraryPath
    readonly permission: string
    readonly isHeld: boolean
  },
): Notice {
  const detail = { ...named(library), ...shared(share), permission: share.permission }
  return ['repo_share', share.isHeld ? { ...detail, is_held: true } : detail]
}

/** To the members of a group that a library, or the folder at `path`, was shared with. */
export function repoShareToGroup(
  library: NamedLibrary,
  share: {
    readonly fromEmail: string
    readonly path: LibraryPath
    readonly permission: string
    readonly group: NamedGroup
  },
): Notice {
  const { group, permission } = share
  const to = { group_id: group.id, group_name: group.name }
  return ['repo_share_to_group', { ...named(library), ...shared(share), permission, ...to }]
}

/** To the grantee of a share whose permission changed. */
export function repoSharePermChange(
  library: NamedLibrary,
  share: { readonly fromEmail: string; readonly path: LibraryPath; readonly permission: string },
): Notice {
  return ['repo_share_perm_change', { ...named(library), ...shared(share), permission: share.permission }]
}

/** To the grantee of a revoked share. */
export function repoSharePermDelete(
  library: NamedLibrary,
  share: { readonly fromEmail: string; readonly path: LibraryPath },
): Notice {
  return ['repo_share_perm_delete', { ...named(library), ...shared(share) }]
}

/** To the account that a credential was made for. */
export function credentialAdded(added: {
  readonly kind: string
  readonly name?: string | undefined
  readonly library?: { readonly id: string; readonly name: string } | undefined
  readonly address: string
}): Notice {
  const { kind, name = '', library, address } = added
  return ['credential_added', { kind, name, address, ...(library && named(library)) }]
}

/** To a new member of a group. */
export function addUserToGroup(group: NamedGroup, byEmail: string, isHeld: boolean): Notice {
  const detail = { group_id: group.id, group_name: group.name, group_staff_email: byEmail }
  return ['add_user_to_group', isHeld ? { ...detail, is_held: true } : detail]
}

/** To the creator of a link, for a file uploaded through it. */
export function fileUploaded(library: NamedLibrary, path: LibraryPath, visitor?: Visitor): Notice {
  const folder = parentOf(path)
  const place = { folder_path: folder, folder_name: baseName(folder) || library.name }
  const file = { file_path: path, file_name: baseName(path) }
  return ['file_uploaded', { ...named(library), ...file, ...place, ...introduced(visitor) }]
}

/** To the creator of a link, for a folder uploaded through it. */
export function folderUploaded(library: NamedLibrary, path: LibraryPath, visitor?: Visitor): Notice {
  const parent = parentOf(path)
  const place = { parent_dir_path: parent, parent_dir_name: baseName(parent) || library.name }
  const folder = { folder_path: path, folder_name: baseName(path) }
  return ['folder_uploaded', { ...named(library), ...folder, ...place, ...introduced(visitor) }]
}

/**
 * A new comment on a file, for its participants, the mentioned accounts and the owner of the library. The text is left out, because
 * deleting the comment does not delete the notification.
 */
export function fileComment(
  library: NamedLibrary,
  comment: { readonly path: LibraryPath; readonly byEmail: string; readonly mentioned: boolean },
): Notice {
  const { path, byEmail, mentioned } = comment
  const file = { file_path: path, file_name: baseName(path) }
  return ['file_comment', { ...named(library), ...file, author_email: byEmail, mentioned }]
}

/** To an account that monitors a library: the changes of one commit of one kind. */
export function repoMonitor(
  library: NamedLibrary,
  what: {
    readonly op: string
    readonly object: string
    readonly byEmail: string
    readonly viaLink: boolean
    readonly commitId: string
    readonly paths: readonly string[]
    readonly oldPaths: readonly string[]
  },
): Notice {
  return [
    'repo_monitor',
    {
      ...named(library),
      commit_id: what.commitId,
      op_type: what.op,
      obj_type: what.object,
      op_user_email: what.byEmail,
      ...(what.viaLink && { via_link: true }),
      obj_path_list: what.paths,
      old_obj_path_list: what.oldPaths,
    },
  ]
}

function named({ id, name }: { readonly id: string; readonly name: string }) {
  return { repo_id: id, repo_name: name }
}

function introduced(visitor: Visitor | undefined) {
  return {
    ...(visitor?.name && { visitor_name: visitor.name }),
    ...(visitor?.message && { visitor_message: visitor.message }),
  }
}

function shared({ fromEmail, path }: { readonly fromEmail: string; readonly path: LibraryPath }) {
  return { path, share_from_user_email: fromEmail }
}
