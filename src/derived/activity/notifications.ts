import { fail } from '../../base/errors.ts'
import type { Account } from '../../people/accounts/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Access } from '../../sharing/access/index.ts'
import type { EventHub } from './hub.ts'
import type { NoticeMails } from './notice-mails.ts'
import type { NoticeDetail, NoticeType } from './notices.ts'
import {
  countNotifications,
  deleteNotificationsBefore,
  deleteNotificationsOf,
  findNotification,
  hasNotification,
  insertNotifications,
  librariesNotifiedOf,
  listNotifications,
  markSeen,
  type Notification,
  type ShownNotifications,
  trimNotifications,
} from './notification-store.ts'

/** Number of notifications an account keeps, and their maximum age. */
export const MAX_KEPT = 1000
const ACCOUNTS_PER_QUERY = 500
const KEPT_SECONDS = 90 * 86_400
// Clients report events that the server has seen itself, within this time.
const SAME_SECONDS = 60

interface NotificationsOptions {
  readonly db: Database
  readonly access: Access
  readonly hub: EventHub
  readonly mails: NoticeMails
  /** Unix seconds. */
  readonly now: () => number
  /** Resolves once the notifications for all earlier commits are stored. */
  readonly catchUp: (accountKey: number) => Promise<void>
}

/** Notifications of accounts: the newest thousand each, for ninety days. */
export class Notifications {
  readonly #options: NotificationsOptions

  constructor(options: NotificationsOptions) {
    this.#options = options
  }

  /** Adds a notification for accounts, in the transaction of the event. `notices.ts` defines the types. */
  async put(
    tx: Transaction,
    accountKeys: Iterable<number>,
    type: NoticeType,
    detail: NoticeDetail,
  ): Promise<void> {
    const { hub, now } = this.#options
    const text = JSON.stringify(detail)
    const all = [...new Set(accountKeys)]
    for (let start = 0; start < all.length; start += ACCOUNTS_PER_QUERY) {
      const some = all.slice(start, start + ACCOUNTS_PER_QUERY)
      const put = await insertNotifications(tx, some, type, text, now())
      await trimNotifications(tx, some, MAX_KEPT)
      await this.#options.mails.put(tx, put, type)
      tx.afterCommit(() => {
        for (const { accountKey, id } of put) hub.publish({ kind: 'notification', accountKey, id, type })
      })
    }
  }

  /** As put, unless an equal notification is unseen or less than a minute old. */
  async putOnce(tx: Transaction, accountKey: number, type: NoticeType, detail: NoticeDetail): Promise<void> {
    const notice = { accountKey, type, detail: JSON.stringify(detail) }
    const isNotified = await hasNotification(tx, notice, this.#options.now() - SAME_SECONDS)
    if (!isNotified) await this.put(tx, [accountKey], type, detail)
  }

  /**
   * A page, newest first. Notifications about content the user may not read now are omitted and not counted.
   */
  async list(
    user: Account,
    page: { skip: number; limit: number },
  ): Promise<{ notifications: Notification[]; all: number; unseen: number }> {
    const { db } = this.#options
    const shown = await this.#shown(user)
    const notifications = await listNotifications(db, shown, page)
    return { notifications, ...(await countNotifications(db, shown)) }
  }

  async countUnseen(user: Account): Promise<number> {
    return (await countNotifications(this.#options.db, await this.#shown(user))).unseen
  }

  async markAllSeen(accountKey: number): Promise<void> {
    await this.#options.db.write((tx) => markSeen(tx, accountKey))
  }

  /** Throws notification-not-found; permission-denied for one of another account. */
  async markSeen(accountKey: number, id: number): Promise<void> {
    const { db } = this.#options
    const found = (await findNotification(db, id)) ?? fail({ code: 'notification-not-found', id })
    if (found.accountKey !== accountKey) fail({ code: 'permission-denied' })
    await db.write((tx) => markSeen(tx, accountKey, id))
  }

  async deleteAll(accountKey: number): Promise<void> {
    await this.#options.db.write((tx) => deleteNotificationsOf(tx, accountKey))
  }

  /** Maintenance. */
  deleteOld(): Promise<number> {
    return this.#options.db.write((tx) => deleteNotificationsBefore(tx, this.#since()), { durable: false })
  }

  async #shown(user: Account): Promise<ShownNotifications> {
    const { db, access, catchUp } = this.#options
    await catchUp(user.key)
    const since = this.#since()
    const ids = await librariesNotifiedOf(db, user.key, since)
    const readable = ids.length === 0 ? undefined : await access.openAll(user, ids)
    return { accountKey: user.key, since, hidden: ids.filter((id) => !readable?.has(id)) }
  }

  #since(): number {
    return this.#options.now() - KEPT_SECONDS
  }
}
