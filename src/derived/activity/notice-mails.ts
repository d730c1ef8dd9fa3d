import { type LibraryId, parseLibraryId } from '../../base/objects/index.ts'
import { baseName } from '../../base/paths/index.ts'
import {
  type Account,
  type Accounts,
  accountRows,
  displayName,
  mailAddressOf,
  unknownPerson,
} from '../../people/accounts/index.ts'
import {
  type Mail,
  type MailContent,
  type MailTexts,
  mailTexts,
  nameInMail,
  type Outbox,
} from '../../people/mail/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Access } from '../../sharing/access/index.ts'
import type { NoticeType } from './notices.ts'
import { listUnseenBetween, type Notification, newestNotification } from './notification-store.ts'

/** Mails of notifications, and mails of changes in monitored libraries, which have an interval of their own. */
const KINDS = ['notices', 'updates'] as const
type Kind = (typeof KINDS)[number]
/** Notifications of this time at least are collected into one mail. */
const COLLECT_SECONDS = 60
/** After as many mails in 24 hours, the next one waits for the daily time. */
const MAX_PER_DAY = 30
const DAY_SECONDS = 86_400
/** Daily mails are sent at 06:00 UTC. */
const DAILY_AT_SECONDS = 6 * 3600
const MAX_LINES = 20
const MAX_READ = 200

/** The types that are mailed, with the key of the person who caused it. What ended is not worth a mail. */
const MAILED: Partial<Record<NoticeType, string>> = {
  add_user_to_group: 'group_staff_email',
  file_comment: 'author_email',
  file_uploaded: '',
  folder_uploaded: '',
  repo_monitor: 'op_user_email',
  repo_share: 'share_from_user_email',
  repo_share_to_group: 'share_from_user_email',
  repo_transfer: 'transfer_from_user_email',
}

interface NoticeMailsOptions {
  readonly db: Database
  readonly access: Access
  readonly accounts: Accounts
  readonly outbox: Outbox
  /** Unix seconds. */
  readonly now: () => number
}

/** Mails the notifications that an account has not seen, at the interval it chose. Changes in monitored libraries are mailed on request only. */
export class NoticeMails {
  readonly #options: NoticeMailsOptions

  constructor(options: NoticeMailsOptions) {
    this.#options = options
    for (const kind of KINDS) {
      options.outbox.register(kind, {
        compose: (mail) => this.#compose(mail, kind),
        lastItem: (reader, accountKey) => newestNotification(reader, accountKey),
      })
    }
  }

  /** Queues mails for new notifications, in their transaction. */
  async put(
    tx: Transaction,
    added: readonly { readonly id: number; readonly accountKey: number }[],
    type: NoticeType,
  ): Promise<void> {
    const { outbox } = this.#options
    if (!outbox.isConfigured || MAILED[type] === undefined) return
    const kind = kindOf(type)
    const choices = await accountRows.findActive(
      tx,
      added.map(({ accountKey }) => accountKey),
    )
    for (const { id, accountKey } of added) {
      const seconds = secondsUntil(kind, choices.get(accountKey))
      if (seconds === undefined) continue
      const isOwn = seconds !== 'daily' && (await outbox.countOfDay(tx, { accountKey }, kind)) < MAX_PER_DAY
      await outbox.put(tx, { kind, accountKey, firstItem: id }, isOwn ? seconds : this.#untilDaily())
    }
  }

  #untilDaily(): number {
    const sinceMidnight = this.#options.now() % DAY_SECONDS
    return (DAILY_AT_SECONDS - sinceMidnight + DAY_SECONDS) % DAY_SECONDS || DAY_SECONDS
  }

  /**
   * Composes the digest when it is sent. Notifications that were seen meanwhile, or whose library the account can no longer read, are left
   * out. Undefined if none is left.
   */
  async #compose(mail: Mail, kind: Kind): Promise<MailContent | undefined> {
    const { db, accounts, outbox } = this.#options
    const account = mail.accountKey === null ? undefined : await accounts.findByKey(mail.accountKey)
    if (!account?.active || secondsUntil(kind, account) === undefined) return undefined
    const between = { first: mail.firstItem ?? 0, last: mail.lastItem ?? 0, limit: MAX_READ }
    const unseen = await listUnseenBetween(db, account.key, between)
    const shown = await this.#visible(
      account,
      unseen.filter(({ type }) => kindOf(type) === kind),
    )
    const newest = shown[0]
    if (newest === undefined) return undefined
    const language = account.language ?? 'en'
    const texts = mailTexts(language)
    const { messages, format } = texts
    const people = await accounts.findMany(shown.map(personIn))
    const nameOf = (notification: Notification) => {
      const email = personIn(notification)
      return displayName(people.get(email) ?? unknownPerson(email))
    }
    const lines = shown.slice(0, MAX_LINES).map((one) => `• ${lineOf(one, nameOf(one), texts, nameInMail)}`)
    const { site } = outbox
    return {
      to: { name: displayName(account), address: mailAddressOf(account) },
      language,
      subject:
        shown.length === 1
          ? lineOf(newest, nameOf(newest), texts, (name) => name)
          : format(messages.notices.subject, { count: shown.length }),
      lines: [
        format(messages.greeting, { name: nameInMail(displayName(account)) }),
        ...(shown.length === 1 ? [`${lineOf(newest, nameOf(newest), texts, nameInMail)}.`] : lines),
        ...(shown.length > MAX_LINES
          ? [format(messages.notices.more, { count: shown.length - MAX_LINES })]
          : []),
      ],
      action: {
        label: format(messages.notices.action, { site }),
        url: outbox.appUrl(shown.length === 1 ? pageOf(newest) : 'activity'),
      },
      why: format(messages.why, { site, email: nameInMail(account.email) }),
      settings: { label: messages.settings, url: outbox.appUrl('account/notifications') },
    }
  }

  async #visible(account: Account, notifications: readonly Notification[]): Promise<Notification[]> {
    const mailed = notifications.filter(({ type }) => MAILED[type as NoticeType] !== undefined)
    const ids = [...new Set(mailed.flatMap((one) => libraryOf(one) ?? []))]
    const readable = await this.#options.access.openAll(account, ids)
    return mailed.filter((one) => {
      const id = libraryOf(one)
      return id === undefined || readable.has(id) || isHeld(one)
    })
  }
}

function kindOf(type: string): Kind {
  return type === 'repo_monitor' ? 'updates' : 'notices'
}

/** How long a new notification waits for others; undefined if the account gets no mail of this kind. */
function secondsUntil(kind: Kind, choices: Account | undefined): number | 'daily' | undefined {
  if (choices === undefined) return undefined
  const { mailNotices, mailIntervalSeconds = COLLECT_SECONDS, updateMailSeconds } = choices
  if (kind === 'updates') {
    return updateMailSeconds === 0 ? undefined : Math.max(COLLECT_SECONDS, updateMailSeconds)
  }
  if (mailNotices === 'at-once') return Math.max(COLLECT_SECONDS, mailIntervalSeconds)
  return mailNotices === 'daily' ? 'daily' : undefined
}

function textIn({ detail }: Notification, key: string): string {
  const value = detail[key]
  return typeof value === 'string' ? value : ''
}

/** Whether it is about something that waits for acceptance, and cannot be read before. */
function isHeld({ detail }: Notification): boolean {
  return detail['is_held'] === true
}

function libraryOf(notification: Notification): LibraryId | undefined {
  return parseLibraryId(textIn(notification, 'repo_id'))
}

function personIn(notification: Notification): string {
  return textIn(notification, MAILED[notification.type as NoticeType] ?? '')
}

/** The sentence of a notification. `safe` prepares names that people chose. */
function lineOf(
  notification: Notification,
  person: string,
  { messages, format }: MailTexts,
  safe: (name: string) => string,
): string {
  const { notices } = messages
  const name = safe(person)
  const group = safe(textIn(notification, 'group_name'))
  // Of a shared folder the name, of a library its own.
  const shared = safe(baseNameOf(textIn(notification, 'path')) || textIn(notification, 'repo_name'))
  const file = safe(textIn(notification, 'file_name') || textIn(notification, 'folder_name'))
  switch (notification.type as NoticeType) {
    case 'add_user_to_group':
      return format(notices.group, { name, group })
    case 'file_comment':
      return format(notification.detail['mentioned'] ? notices.mention : notices.comment, {
        name,
        item: file,
      })
    case 'repo_monitor':
      return format(notices.changed, { name, item: shared })
    case 'repo_share':
      return format(notices.share, { name, item: shared })
    case 'repo_share_to_group':
      return format(notices.shareGroup, { name, item: shared, group })
    case 'repo_transfer':
      return format(notices.transfer, { name, item: shared })
    default: {
      const visitor = safe(textIn(notification, 'visitor_name'))
      return visitor === ''
        ? format(notices.uploaded, { item: file })
        : format(notices.uploadedBy, { item: file, name: visitor })
    }
  }
}

function baseNameOf(path: string): string {
  return path.startsWith('/') ? baseName(path as Parameters<typeof baseName>[0]) : ''
}

/** The page of the web app that shows it. */
function pageOf(notification: Notification): string {
  const id = libraryOf(notification)
  if (isHeld(notification)) return 'shared'
  if (id === undefined) return 'activity'
  const path = encodeURIComponent(textIn(notification, 'file_path'))
  return notification.type === 'file_comment' ? `view/${id}?p=${path}` : `library/${id}`
}
