import type { LibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { GroupEvent } from '../../people/accounts/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { ShareEvent, TicketUse } from '../../sharing/access/index.ts'
import {
  addUserToGroup,
  fileUploaded,
  folderUploaded,
  type Notice,
  repoShare,
  repoSharePermChange,
  repoSharePermDelete,
  repoShareToGroup,
} from './notices.ts'
import type { Notifications } from './notifications.ts'

// Limit per upload. Further files appear in the feed only.
const MAX_UPLOADS_NOTIFIED = 100

/** An upload through a link, with paths as its creator sees them. */
interface LinkUpload {
  readonly makerKey: number
  readonly library: { readonly id: LibraryId; readonly name: string }
  /** The visitor, if the link asks who they are. */
  readonly sender: TicketUse['sender']
  readonly items: readonly { readonly path: LibraryPath; readonly isDir: boolean }[]
}

interface SharingNotifierOptions {
  readonly notifications: Notifications
  readonly accessChanged: (tx: Transaction, accountKeys: Iterable<number>) => void
}

/**
 * Notifies accounts of shares, groups and link uploads, in the transaction of the change. The actor is not
 * notified.
 */
export class SharingNotifier {
  readonly #options: SharingNotifierOptions

  constructor(options: SharingNotifierOptions) {
    this.#options = options
  }

  async ofShare(tx: Transaction, event: ShareEvent): Promise<void> {
    const { notifications, accessChanged } = this.#options
    accessChanged(tx, event.accountKeys)
    const receivers = event.accountKeys.filter((key) => key !== event.by.key)
    await notifications.put(tx, receivers, ...noticeOf(event))
  }

  async ofGroup(tx: Transaction, { kind, group, accountKeys, by, isHeld }: GroupEvent): Promise<void> {
    const { notifications, accessChanged } = this.#options
    accessChanged(tx, accountKeys)
    if (kind !== 'joined' || by === undefined) return
    await notifications.put(
      tx,
      accountKeys,
      ...addUserToGroup({ id: group.key, name: group.name }, by, isHeld),
    )
  }

  /** The account has accepted or declined what was shared with it. */
  accessChanged(tx: Transaction, accountKeys: readonly number[]): void {
    this.#options.accessChanged(tx, accountKeys)
  }

  async ofUpload(tx: Transaction, { makerKey, library, sender, items }: LinkUpload): Promise<void> {
    for (const { path, isDir } of items.slice(0, MAX_UPLOADS_NOTIFIED)) {
      const notice = isDir ? folderUploaded(library, path, sender) : fileUploaded(library, path, sender)
      await this.#options.notifications.putOnce(tx, makerKey, ...notice)
    }
  }
}

function noticeOf({ kind, by, library, path, permission, isHeld, group }: ShareEvent): Notice {
  const share = { fromEmail: by.email, path, permission, isHeld }
  if (kind === 'changed') return repoSharePermChange(library, share)
  if (kind === 'ended') return repoSharePermDelete(library, share)
  if (group === undefined) return repoShare(library, share)
  return repoShareToGroup(library, { ...share, group: { id: group.key, name: group.name } })
}
