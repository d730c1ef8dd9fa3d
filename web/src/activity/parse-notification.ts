import type { NotificationItem } from '../api/index.ts'
import { fileUrl, folderUrl, trashUrl } from '../navigation/index.ts'
import { nameOf, parentOf } from '../paths.ts'

/** A parsed notification: key of the sentence, values of its placeholders, sender and target URL. */
interface ParsedNotification {
  /** A visitor of a link is the sender. `who` is then the creator of the link. */
  readonly viaLink?: boolean
  readonly sentence: NotificationSentence
  readonly names: Readonly<Record<string, string>>
  readonly from:
    | { readonly email: string; readonly name: string; readonly avatarUrl: string | undefined }
    | undefined
  readonly to: string | undefined
  /** What the visitor of an upload link wrote. */
  readonly message?: string
}

type NotificationSentence =
  | 'share'
  | 'shareToGroup'
  | 'permission'
  | 'shareEnded'
  | 'transfer'
  | 'joined'
  | 'fileCame'
  | 'folderCame'
  | 'fileFrom'
  | 'folderFrom'
  | 'deleted'
  | 'watched'
  | 'watchedOne'
  | 'comment'
  | 'mention'
  | 'newToken'
  | 'newDevice'
  | 'newWebdav'
  | 'newLibraryToken'
  | 'newContact'
  | 'newSecondFactor'
  | 'secondFactorRemoved'
  | 'secondFactorReset'
  | 'newRecoveryCodes'
  | 'other'

/** Parses a notification. Unknown types of newer servers are tolerated. */
export function parseNotification({ type, detail }: NotificationItem): ParsedNotification {
  const text = (name: string) => {
    const value = detail[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  }
  const person = (role: string) => ({
    from: {
      email: text(`${role}_email`),
      name: text(`${role}_name`),
      avatarUrl: text(`${role}_avatar_url`) || undefined,
    },
  })
  const library = text('repo_id')
  const what = text('repo_name')
  const inLibrary = library === '' ? undefined : folderUrl(library)
  const sharer = person('share_from_user')
  // Waits for acceptance on that page.
  const isHeld = detail['is_held'] === true
  const shared = { what, who: text('share_from_user_name') }
  switch (type) {
    case 'repo_share':
      return { sentence: 'share', names: shared, ...sharer, to: isHeld ? '/shared' : inLibrary }
    case 'repo_share_to_group':
      return {
        sentence: 'shareToGroup',
        names: { ...shared, group: text('group_name') },
        ...sharer,
        to: inLibrary,
      }
    case 'repo_share_perm_change':
      return {
        sentence: 'permission',
        names: { ...shared, permission: text('permission') },
        ...sharer,
        to: inLibrary,
      }
    case 'repo_share_perm_delete':
      return { sentence: 'shareEnded', names: shared, ...sharer, to: undefined }
    case 'repo_transfer': {
      const names = { what, who: text('transfer_from_user_name') }
      return { sentence: 'transfer', names, ...person('transfer_from_user'), to: inLibrary }
    }
    case 'add_user_to_group': {
      const names = { group: text('group_name'), who: text('group_staff_name') }
      const to = isHeld ? '/shared' : `/groups/${text('group_id')}`
      return { sentence: 'joined', names, ...person('group_staff'), to }
    }
    case 'file_uploaded': {
      const names = { what: text('file_name'), folder: text('folder_name') }
      return { ...came('file', names, text), to: fileUrl(library, text('file_path')) }
    }
    case 'folder_uploaded': {
      const names = { what: text('folder_name'), folder: text('parent_dir_name') }
      return { ...came('folder', names, text), to: folderUrl(library, text('folder_path')) }
    }
    case 'deleted_files': {
      const names = { what, count: text('count'), who: text('op_user_name') }
      return { sentence: 'deleted', names, ...person('op_user'), to: trashUrl(library) }
    }
    case 'repo_monitor':
      return detail['via_link'] === true
        ? { ...watched(detail, library, text), viaLink: true, from: undefined }
        : { ...watched(detail, library, text), ...person('op_user') }
    case 'file_comment': {
      const names = { what: text('file_name'), who: text('author_name') }
      const sentence = detail['mentioned'] === true ? 'mention' : 'comment'
      return { sentence, names, ...person('author'), to: fileUrl(library, text('file_path')) }
    }
    case 'credential_added': {
      const added = credentials[text('kind') as keyof typeof credentials]
      if (added === undefined) break
      const names = { what, name: text('name'), address: text('address') }
      return { ...added, names, from: undefined }
    }
  }
  return { sentence: 'other', names: { what: what || type }, from: undefined, to: inLibrary }
}

/** What came through an upload link, and from whom, if its file request asked. */
function came(
  kind: 'file' | 'folder',
  names: Readonly<Record<string, string>>,
  text: (name: string) => string,
) {
  const who = text('visitor_name')
  const message = text('visitor_message')
  return {
    sentence: who === '' ? (`${kind}Came` as const) : (`${kind}From` as const),
    names: who === '' ? names : { ...names, who },
    from: undefined,
    ...(message !== '' && { message }),
  }
}

/** The sentence for a new credential by its kind, and where it is revoked. */
const credentials = {
  token: { sentence: 'newToken', to: '/account/tokens' },
  device: { sentence: 'newDevice', to: '/account/tokens' },
  webdav: { sentence: 'newWebdav', to: '/account/webdav' },
  library: { sentence: 'newLibraryToken', to: undefined },
  contact: { sentence: 'newContact', to: '/account' },
  'second-factor': { sentence: 'newSecondFactor', to: '/account/security' },
  'second-factor-removed': { sentence: 'secondFactorRemoved', to: '/account/security' },
  'second-factor-reset': { sentence: 'secondFactorReset', to: '/account/security' },
  'recovery-codes': { sentence: 'newRecoveryCodes', to: '/account/security' },
} as const

/** Changes in a watched library: of one entry or of several. */
function watched(detail: NotificationItem['detail'], library: string, text: (name: string) => string) {
  const list = detail['obj_path_list']
  const paths = Array.isArray(list) ? list.filter((path): path is string => typeof path === 'string') : []
  const names = { what: text('repo_name'), who: text('op_user_name'), op: text('op_type') }
  const [path] = paths
  if (paths.length !== 1 || path === undefined || path === '/') {
    const folder = path === undefined ? '/' : parentOf(path)
    const to = folderUrl(library, text('op_type') === 'delete' ? '/' : folder)
    return { sentence: 'watched' as const, names: { ...names, count: String(paths.length) }, to }
  }
  const isFile = text('obj_type') === 'file'
  const there = isFile ? fileUrl(library, path) : folderUrl(library, path)
  const to = text('op_type') === 'delete' ? folderUrl(library) : there
  return { sentence: 'watchedOne' as const, names: { ...names, name: nameOf(path) }, to }
}
