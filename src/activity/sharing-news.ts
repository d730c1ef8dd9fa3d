import type { ShareEvent } from '../access/index.ts'
import type { Transaction } from '../database/index.ts'
import type { GroupEvent } from '../identity/index.ts'
import type { LibraryId, LibraryPath } from '../objects/index.ts'
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

// Of one upload; whoever sends more is told of in the feed.
const MOST_UPLOADS_TOLD = 100

/** What came in through a link, as its maker sees the library. */
export interface LinkUpload {
  readonly makerKey: number
  readonly library: { readonly id: LibraryId; readonly name: string }
  readonly items: readonly { readonly path: LibraryPath; readonly isDir: boolean }[]
}

export interface SharingNewsOptions {
  readonly notifications: Notifications
  readonly accessChanged: (tx: Transaction, accountKeys: Iterable<number>) => void
}

/** Tells people of shares, groups and links, in the transaction of what happened. Nobody is told what they did. */
export class SharingNews {
  readonly #options: SharingNewsOptions

  constructor(options: SharingNewsOptions) {
    this.#options = options
  }

  async ofShare(tx: Transaction, event: ShareEvent): Promise<void> {
    const { notifications, accessChanged } = this.#options
    accessChanged(tx, event.accountKeys)
    const told = event.accountKeys.filter((key) => key !== event.by.key)
    await notifications.put(tx, told, ...noticeOf(event))
  }

  async ofGroup(tx: Transaction, { kind, group, accountKeys, by }: GroupEvent): Promise<void> {
    const { notifications, accessChanged } = this.#options
    accessChanged(tx, accountKeys)
    if (kind !== 'joined' || by === undefined) return
    await notifications.put(tx, accountKeys, ...addUserToGroup({ id: group.key, name: group.name }, by))
  }

  async ofUpload(tx: Transaction, { makerKey, library, items }: LinkUpload): Promise<void> {
    for (const { path, isDir } of items.slice(0, MOST_UPLOADS_TOLD)) {
      const notice = isDir ? folderUploaded(library, path) : fileUploaded(library, path)
      await this.#options.notifications.putOnce(tx, makerKey, ...notice)
    }
  }
}

function noticeOf({ kind, by, library, path, permission, group }: ShareEvent): Notice {
  const share = { fromEmail: by.email, path, permission }
  if (kind === 'changed') return repoSharePermChange(library, share)
  if (kind === 'ended') return repoSharePermDelete(library, share)
  if (group === undefined) return repoShare(library, share)
  return repoShareToGroup(library, { ...share, group: { id: group.key, name: group.name } })
}
