import { ROOT } from '../../base/paths/index.ts'
import type { LibraryCore, LibraryEvent } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import type { Accounts } from '../../people/accounts/index.ts'
import type { Outbox } from '../../people/mail/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { ServerSecret } from '../../platform/secret/index.ts'
import { type Access, shareRows } from '../../sharing/access/index.ts'
import type { AnnotationEvent } from '../annotations/index.ts'
import { ActivityConsumer, CONSUMERS } from './activity-consumer.ts'
import { insertLibraryAction, librariesBehind } from './activity-store.ts'
import { CredentialNotifier } from './credential-notifier.ts'
import { Feed } from './feed.ts'
import {
  type CommitLiveEvent,
  type EventHub,
  type LibraryLiveEvent,
  LocalEventHub,
  type TaskUpdate,
} from './hub.ts'
import { LiveStreams } from './live-streams.ts'
import { MonitoredLibraries } from './monitored.ts'
import { NoticeMails } from './notice-mails.ts'
import { fileComment, repoTransfer } from './notices.ts'
import { Notifications } from './notifications.ts'
import { SharingNotifier } from './sharing-notifier.ts'
import { systemNetwork } from './webhook-request.ts'
import { WebhookSecrets } from './webhook-secret.ts'
import { WebhookSender } from './webhook-sender.ts'
import { listLibrariesWithWebhooks } from './webhook-store.ts'
import { Webhooks } from './webhooks.ts'

interface ActivityOptions {
  readonly core: LibraryCore
  readonly db: Database
  readonly access: Access
  readonly accounts: Accounts
  readonly outbox: Outbox
  /** The secret of the server, which encrypts webhook secrets. */
  readonly secret: ServerSecret
  /** Days that activities stay in the feed; negative for all. */
  readonly activityDays: number
  /** Whether webhooks may call private addresses. */
  readonly webhookPrivate: boolean
  /** Unix seconds. */
  readonly now: () => number
  /** Called with errors of background work, which is then retried. */
  readonly onError: (error: unknown) => void
}

/** The services of this module: feed, notifications, live events and webhooks. */
export class ActivityService implements AsyncDisposable {
  readonly hub: EventHub = new LocalEventHub()
  readonly feed: Feed
  readonly consumer: ActivityConsumer
  readonly live: LiveStreams
  readonly monitored: MonitoredLibraries
  readonly notifications: Notifications
  readonly sharing: SharingNotifier
  readonly credentials: CredentialNotifier
  readonly webhooks: Webhooks
  readonly webhookSender: WebhookSender
  readonly #options: ActivityOptions
  readonly #libraryListeners: ((event: LibraryLiveEvent) => void)[] = []
  readonly #lossListeners: (() => void)[] = []
  #stopping = false

  constructor(options: ActivityOptions) {
    this.#options = options
    const { core, db, access, accounts, now, onError } = options
    const onLibraryEvent = (event: LibraryLiveEvent) => {
      for (const listener of this.#libraryListeners) listener(event)
    }
    const onLost = () => {
      for (const listener of this.#lossListeners) listener()
    }
    const { hub } = this
    const { secret } = options
    this.live = new LiveStreams({
      db,
      access,
      accounts,
      hub,
      secret,
      now,
      onLibraryEvent,
      onLost,
      onError,
    })
    this.consumer = new ActivityConsumer(core, db, options.activityDays)
    core.commitConsumer.accompany(this.live.log)
    this.feed = new Feed(db, access, this.consumer)
    this.notifications = new Notifications({
      db,
      access,
      hub: this.hub,
      mails: new NoticeMails({ db, access, accounts, outbox: options.outbox, now }),
      now,
      catchUp: async (accountKey) => this.consumer.catchUp([...(await this.monitored.list(accountKey))]),
    })
    this.monitored = new MonitoredLibraries({
      db,
      access,
      accounts,
      notifications: this.notifications,
    })
    this.sharing = new SharingNotifier({
      notifications: this.notifications,
      accessChanged: (tx, accountKeys) => this.accessChanged(tx, accountKeys),
    })
    this.credentials = new CredentialNotifier({
      notifications: this.notifications,
      accounts,
      outbox: options.outbox,
    })
    const secrets = new WebhookSecrets(options.secret)
    const network = systemNetwork(options.webhookPrivate)
    this.webhookSender = new WebhookSender({ db, secrets, network, now, onError })
    this.webhooks = new Webhooks({
      db,
      audit: core.audit,
      secrets,
      allowPrivate: options.webhookPrivate,
      now,
      onPending: () => this.webhookSender.wake(),
    })
    this.consumer.onCommits(this.monitored.notify)
    this.consumer.onCommits(this.webhooks.notify)
    this.#listen(core)
  }

  /** Call it when the access of accounts changes: their live routing is updated. */
  accessChanged(tx: Transaction, accountKeys: Iterable<number>): void {
    for (const accountKey of new Set(accountKeys)) {
      tx.afterCommit(() => this.hub.publish({ kind: 'access', accountKey }))
    }
  }

  /** Notifies accounts of a comment, and open pages of the change. Part of its transaction. */
  async recordAnnotation(tx: Transaction, event: AnnotationEvent): Promise<void> {
    const { library, path, author } = event
    for (const { accountKey, mentioned, ...seen } of event.recipients) {
      const comment = { path: seen.path, byEmail: author.email, mentioned }
      await this.notifications.put(tx, [accountKey], ...fileComment(seen.library, comment))
    }
    tx.afterCommit(() =>
      this.hub.publish({
        kind: event.kind,
        libraryKey: library.key,
        libraryId: library.id,
        path,
        seq: library.headSeq,
        author: author.email,
      }),
    )
  }

  /** Calls `listener` with the events of libraries of all nodes, each library's in the order in which they happened. It must not throw. */
  onLibraryEvent(listener: (event: LibraryLiveEvent) => void): void {
    this.#libraryListeners.push(listener)
  }

  /** Calls `listener` when events of libraries were lost, because there were too many. It must not throw. */
  onEventsLost(listener: () => void): void {
    this.#lossListeners.push(listener)
  }

  /** Publishes the progress of a task. */
  publishTask(accountKey: number, task: TaskUpdate): void {
    this.hub.publish({ kind: 'task', accountKey, task })
  }

  /** Starts background work. */
  async start(): Promise<void> {
    await this.live.start()
    this.webhookSender.start()
    void this.#notifyMissed()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true
    await this.consumer.stop()
    await this.webhookSender[Symbol.asyncDispose]()
    await this.live[Symbol.asyncDispose]()
  }

  /**
   * Processes the commits of all libraries that another node left, for the feed, notifications and webhooks, and publishes them again: that node may
   * have died before it did.
   */
  async takeOver(): Promise<void> {
    const { db } = this.#options
    this.webhookSender.wake()
    const behind = await librariesBehind(db, CONSUMERS)
    for (const key of behind) {
      const library = await libraryRows.findByKey(db, key)
      if (library !== undefined) this.hub.publish(commitEvent(library))
    }
    await this.consumer.catchUp(behind)
  }

  /** Processes commits that an earlier process left, for webhooks. */
  async #notifyMissed(): Promise<void> {
    const { db, onError } = this.#options
    try {
      await this.consumer.catchUp(await listLibrariesWithWebhooks(db))
    } catch (error) {
      if (!this.#stopping) onError(error)
    }
  }

  #listen(core: LibraryCore): void {
    core.onHeadMoved((library, before) =>
      this.hub.publish({ ...commitEvent(library), rootBefore: before.root }),
    )
    core.events.onRecord((tx, event) => this.#record(tx, event))
    core.events.onRecord((tx, event) => this.webhooks.record(tx, event))
    core.events.onRecord((tx, event) => this.#recordLock(tx, event))
    core.events.onEvent((event) => this.#announce(event))
  }

  async #record(tx: Transaction, event: LibraryEvent): Promise<void> {
    const { library, actor, kind } = event
    const common = {
      object: 'repo' as const,
      path: ROOT,
      oldPath: undefined,
      oldName: undefined,
      days: undefined,
    }
    const action = { ...common, author: actor.email, at: this.#options.now(), commitId: library.head }
    // Called while the shares still exist.
    if (kind === 'deleted' || kind === 'transferred') {
      this.accessChanged(tx, await shareRows.listAccounts(tx, library.key))
    }
    switch (kind) {
      case 'deleted':
        // Nobody can open the library any more, but its owner still sees the activity.
        return insertLibraryAction(tx, library, { ...action, op: 'delete' }, library.ownerKey)
      case 'restored':
        return insertLibraryAction(tx, library, { ...action, op: 'recover' })
      case 'trash-emptied':
        return insertLibraryAction(tx, library, { ...action, op: 'clean-up-trash', days: event.days })
      case 'transferred':
        return this.notifications.put(tx, [event.to.key], ...repoTransfer(library, actor.email))
      case 'created':
      case 'locked':
      case 'unlocked':
        return undefined
    }
  }

  async #recordLock(tx: Transaction, event: LibraryEvent): Promise<void> {
    if (event.kind !== 'locked' && event.kind !== 'unlocked') return
    const { library, actor, path } = event
    const lock = {
      kind: 'lock' as const,
      libraryKey: library.key,
      libraryId: library.id,
      path,
      seq: library.headSeq,
      locked: event.kind === 'locked',
      author: actor.email,
    }
    await this.live.log.recordLock(tx, lock, commitEvent(library))
  }

  #announce(event: LibraryEvent): void {
    const { library } = event
    // Changes of locks are logged in their transaction.
    if (event.kind === 'locked' || event.kind === 'unlocked' || event.kind === 'trash-emptied') return
    if (event.kind === 'created') this.#options.core.commitConsumer.wake(library)
    this.hub.publish({ kind: 'access', accountKey: library.ownerKey })
    if (event.kind === 'transferred') this.hub.publish({ kind: 'access', accountKey: event.to.key })
  }
}

/** The event of the head of a library. */
function commitEvent(library: LibraryInfo): CommitLiveEvent {
  return {
    kind: 'commit',
    libraryKey: library.key,
    libraryId: library.id,
    commitId: library.head,
    root: library.root,
    seq: library.headSeq,
    author: library.modifier,
    ...(library.modifierViaLink && { viaLink: true }),
    at: library.updatedAt,
  }
}
