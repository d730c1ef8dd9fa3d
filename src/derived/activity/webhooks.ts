import { randomUUID } from 'node:crypto'
import { fail } from '../../base/errors.ts'
import type { LibraryEvent, OwnedLibrary } from '../../libraries/library/index.ts'
import { type Audit, type AuditAction, type AuditActor, libraryAction } from '../../people/audit/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { CommitNotifier } from './activity-consumer.ts'
import { parseWebhookUrl } from './webhook-address.ts'
import { commitBody, eventBody, type WebhookEvent } from './webhook-body.ts'
import {
  countPending,
  type Delivery,
  deleteDeliveriesBefore,
  findDelivery,
  insertDeliveries,
  listDeliveries,
} from './webhook-delivery-store.ts'
import { newWebhookSecret, type WebhookSecrets } from './webhook-secret.ts'
import {
  deleteWebhook,
  deleteWebhooksOf,
  findWebhook,
  findWebhookByUrl,
  hasWebhooks,
  insertWebhook,
  listActingWebhooks,
  listWebhooks,
  updateWebhook,
  type Webhook,
} from './webhook-store.ts'

export const MAX_WEBHOOKS = 20
// Maximum of pending deliveries per webhook. Further events are not sent.
const MAX_PENDING = 1000
const KEPT_SECONDS = 30 * 86_400

interface WebhooksOptions {
  readonly db: Database
  readonly audit: Audit
  readonly secrets: WebhookSecrets
  /** Whether private addresses may be called. */
  readonly allowPrivate: boolean
  /** Unix seconds. */
  readonly now: () => number
  /** Called when there is something to send. */
  readonly onPending: () => void
}

/** Changes of a webhook; undefined fields stay as they are. */
interface WebhookChanges {
  readonly url: string | undefined
  readonly secret: string | undefined
  /** Whether it is enabled. Undefined enables one that was disabled after failures. */
  readonly isValid: boolean | undefined
}

/** A webhook, with its secret if that is new. The secret is shown only once. */
interface ShownWebhook {
  readonly webhook: Webhook
  readonly secret: string | undefined
}

/** Management of webhooks by library owners, and the queue of their deliveries. */
export class Webhooks {
  readonly #options: WebhooksOptions

  constructor(options: WebhooksOptions) {
    this.#options = options
  }

  list({ info }: OwnedLibrary): Promise<Webhook[]> {
    return listWebhooks(this.#options.db, info.key)
  }

  /** Throws webhook-url-invalid, webhook-exists, limit-reached. */
  async add(
    library: OwnedLibrary,
    options: { url: string; secret: string | undefined },
    by: AuditActor | undefined,
  ): Promise<ShownWebhook> {
    const { db, secrets, now } = this.#options
    const url = this.#parse(options.url)
    const secret = options.secret ?? newWebhookSecret()
    const { key: libraryKey, headSeq: sinceSeq } = library.info
    const created = { libraryKey, url, secret: secrets.seal(secret), creator: library.actor.email }
    const webhook = await db.write(async (tx) => {
      if ((await listWebhooks(tx, libraryKey)).length >= MAX_WEBHOOKS) {
        fail({ code: 'limit-reached', what: 'webhooks', limit: MAX_WEBHOOKS })
      }
      const inserted = await insertWebhook(tx, { ...created, createdAt: now(), sinceSeq })
      if (inserted === undefined) return fail({ code: 'webhook-exists', url })
      await this.#record(tx, by, 'webhook-made', library, inserted)
      return inserted
    })
    return { webhook, secret }
  }

  /** Audited if something differs. Throws webhook-not-found, webhook-url-invalid, webhook-exists. */
  async change(
    library: OwnedLibrary,
    key: number,
    changes: WebhookChanges,
    by: AuditActor | undefined,
  ): Promise<ShownWebhook> {
    const { db, secrets, onPending } = this.#options
    const { key: libraryKey } = library.info
    const url = changes.url === undefined ? undefined : this.#parse(changes.url)
    const sealed = changes.secret === undefined ? undefined : secrets.seal(changes.secret)
    const webhook = await db.write(async (tx) => {
      const found = (await findWebhook(tx, libraryKey, key)) ?? fail({ code: 'webhook-not-found' })
      const taken = url === undefined ? undefined : await findWebhookByUrl(tx, libraryKey, url)
      if (taken !== undefined && taken.key !== key) fail({ code: 'webhook-exists', url: taken.url })
      const changed = {
        ...found,
        url: url ?? found.url,
        secret: sealed ?? found.secret,
        isValid: changes.isValid ?? true,
      }
      await updateWebhook(tx, key, changed)
      const isSame = changed.url === found.url && changed.isValid === found.isValid
      if (!isSame || !this.#isSecretOf(found, changes.secret)) {
        await this.#record(tx, by, 'webhook-changed', library, changed)
      }
      return changed
    })
    onPending()
    return { webhook, secret: changes.secret }
  }

  /** Also deletes pending deliveries. Throws webhook-not-found. */
  async remove(library: OwnedLibrary, key: number, by: AuditActor | undefined): Promise<void> {
    const { info } = library
    await this.#options.db.write(async (tx) => {
      const webhook = (await findWebhook(tx, info.key, key)) ?? fail({ code: 'webhook-not-found' })
      if (!(await deleteWebhook(tx, info.key, key))) fail({ code: 'webhook-not-found' })
      await this.#record(tx, by, 'webhook-removed', library, webhook)
    })
  }

  /** Only the host of the URL is audited, because the rest may be a secret. */
  #record(
    tx: Transaction,
    by: AuditActor | undefined,
    action: AuditAction,
    { info }: OwnedLibrary,
    { key, url }: Webhook,
  ): Promise<void> {
    const detail = { webhook: key, host: new URL(url).host }
    return this.#options.audit.record(tx, by, libraryAction(action, info, detail))
  }

  /** Deliveries, newest first. Throws webhook-not-found. */
  async deliveries(
    library: OwnedLibrary,
    key: number,
    page: { skip: number; limit: number },
  ): Promise<Delivery[]> {
    await this.#get(library, key)
    return listDeliveries(this.#options.db, key, page)
  }

  /** Repeats a delivery as a new one. Throws webhook-not-found, delivery-not-found, webhook-queue-full. */
  async redeliver(library: OwnedLibrary, key: number, id: string): Promise<Delivery> {
    const { db, now, onPending } = this.#options
    await this.#get(library, key)
    const { event, body } = (await findDelivery(db, key, id)) ?? fail({ code: 'delivery-not-found' })
    if ((await countPending(db, key)) >= MAX_PENDING) fail({ code: 'webhook-queue-full', limit: MAX_PENDING })
    const again = { webhookKey: key, id: randomUUID(), event, body, createdAt: now() }
    await db.write((tx) => insertDeliveries(tx, [again]))
    onPending()
    return (await findDelivery(db, key, again.id)) ?? fail({ code: 'delivery-not-found' })
  }

  /** Queues deliveries for commits. */
  readonly notify: CommitNotifier = async (library, commits) => {
    if (!(await hasWebhooks(this.#options.db, library.key))) return undefined
    return async (tx) => {
      for (const webhook of await listActingWebhooks(tx, library.key)) {
        const unsent = commits.filter(({ commit }) => commit.seq > webhook.sinceSeq)
        const bodies = unsent.map((commit) => ({
          event: 'commit' as const,
          body: commitBody(library, commit),
        }))
        await this.#enqueue(tx, webhook, bodies)
      }
    }
  }

  /** Queues deliveries for events without a commit, in the transaction of the event. */
  async record(tx: Transaction, event: LibraryEvent): Promise<void> {
    // A transfer removes webhooks, so that the new owner's changes are not sent to receivers of the old one.
    if (event.kind === 'transferred') return deleteWebhooksOf(tx, event.library.key)
    if (event.kind !== 'deleted' && event.kind !== 'restored' && event.kind !== 'trash-emptied') return
    const body = eventBody(event, this.#options.now())
    for (const webhook of await listActingWebhooks(tx, event.library.key)) {
      await this.#enqueue(tx, webhook, [{ event: event.kind, body }])
    }
  }

  /** Maintenance. */
  deleteOld(): Promise<number> {
    const { db, now } = this.#options
    return db.write((tx) => deleteDeliveriesBefore(tx, now() - KEPT_SECONDS), { durable: false })
  }

  async #enqueue(
    tx: Transaction,
    { key: webhookKey, isValid }: Webhook,
    bodies: readonly { event: WebhookEvent; body: string }[],
  ): Promise<void> {
    if (!isValid || bodies.length === 0) return
    const room = MAX_PENDING - (await countPending(tx, webhookKey))
    const createdAt = this.#options.now()
    const rows = bodies
      .slice(0, Math.max(0, room))
      .map(({ event, body }) => ({ webhookKey, id: randomUUID(), event, body, createdAt }))
    await insertDeliveries(tx, rows)
    tx.afterCommit(this.#options.onPending)
  }

  async #get({ info }: OwnedLibrary, key: number): Promise<Webhook> {
    return (await findWebhook(this.#options.db, info.key, key)) ?? fail({ code: 'webhook-not-found' })
  }

  #isSecretOf(webhook: Webhook, secret: string | undefined): boolean {
    return secret === undefined || this.#options.secrets.open(webhook.secret) === secret
  }

  #parse(text: string): string {
    const url = parseWebhookUrl(text, this.#options.allowPrivate)
    return url?.href ?? fail({ code: 'webhook-url-invalid' })
  }
}
