import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../database/index.ts'
import { fail } from '../errors.ts'
import type { LibraryEvent, OwnedLibrary } from '../library/index.ts'
import type { Teller } from './activity-follower.ts'
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
  insertWebhook,
  listActingWebhooks,
  listWebhooks,
  updateWebhook,
  type Webhook,
} from './webhook-store.ts'

export const MOST_WEBHOOKS = 20
// What a receiver that is down for long may have waiting for it; what comes then is not told.
const MOST_PENDING = 1000
const KEPT_SECONDS = 30 * 86_400

export interface WebhooksOptions {
  readonly db: Database
  readonly secrets: WebhookSecrets
  /** Whether addresses within our own network may be called. */
  readonly allowPrivate: boolean
  /** Unix seconds. */
  readonly now: () => number
  /** Called when there is something to send. */
  readonly onPending: () => void
}

/** What an owner wants of a webhook; what is undefined stays as it is. */
export interface WebhookWish {
  readonly url: string | undefined
  readonly secret: string | undefined
  /** Whether it is to be called; naming nothing makes one work again that was given up. */
  readonly isValid: boolean | undefined
}

/** A webhook, and its secret if that is new: it is shown this once. */
export interface ShownWebhook {
  readonly webhook: Webhook
  readonly secret: string | undefined
}

/** More to be written in the transaction that makes, changes or removes a webhook. */
export type AlsoOfWebhook = (tx: Transaction, webhook: Webhook) => Promise<void>

/** The webhooks of libraries, in the hands of their owners, and what they are to be told. */
export class Webhooks {
  readonly #options: WebhooksOptions

  constructor(options: WebhooksOptions) {
    this.#options = options
  }

  list({ info }: OwnedLibrary): Promise<Webhook[]> {
    return listWebhooks(this.#options.db, info.key)
  }

  /** Throws webhook-url-invalid, webhook-exists, too-many-webhooks. */
  async add(
    library: OwnedLibrary,
    wish: { url: string; secret: string | undefined },
    also?: AlsoOfWebhook,
  ): Promise<ShownWebhook> {
    const { db, secrets, now } = this.#options
    const url = this.#parse(wish.url)
    const secret = wish.secret ?? newWebhookSecret()
    const { key: libraryKey, headSeq: sinceSeq } = library.info
    const made = { libraryKey, url, secret: secrets.seal(secret), creator: library.actor.email }
    const webhook = await db.write(async (tx) => {
      if ((await listWebhooks(tx, libraryKey)).length >= MOST_WEBHOOKS) {
        fail({ code: 'too-many-webhooks', limit: MOST_WEBHOOKS })
      }
      const inserted = await insertWebhook(tx, { ...made, createdAt: now(), sinceSeq })
      if (inserted === undefined) return fail({ code: 'webhook-exists', url })
      await also?.(tx, inserted)
      return inserted
    })
    return { webhook, secret }
  }

  /** Throws webhook-not-found, webhook-url-invalid, webhook-exists. */
  async change(
    library: OwnedLibrary,
    key: number,
    wish: WebhookWish,
    also?: AlsoOfWebhook,
  ): Promise<ShownWebhook> {
    const { db, secrets, onPending } = this.#options
    const { key: libraryKey } = library.info
    const url = wish.url === undefined ? undefined : this.#parse(wish.url)
    const sealed = wish.secret === undefined ? undefined : secrets.seal(wish.secret)
    const webhook = await db.write(async (tx) => {
      const found = (await findWebhook(tx, libraryKey, key)) ?? fail({ code: 'webhook-not-found' })
      const taken = url === undefined ? undefined : await findWebhookByUrl(tx, libraryKey, url)
      if (taken !== undefined && taken.key !== key) fail({ code: 'webhook-exists', url: taken.url })
      const changed = {
        ...found,
        url: url ?? found.url,
        secret: sealed ?? found.secret,
        isValid: wish.isValid ?? true,
      }
      await updateWebhook(tx, key, changed)
      await also?.(tx, changed)
      return changed
    })
    onPending()
    return { webhook, secret: wish.secret }
  }

  /** What waited to be sent is gone with it. Throws webhook-not-found. */
  async remove({ info }: OwnedLibrary, key: number, also?: AlsoOfWebhook): Promise<void> {
    await this.#options.db.write(async (tx) => {
      const webhook = (await findWebhook(tx, info.key, key)) ?? fail({ code: 'webhook-not-found' })
      if (!(await deleteWebhook(tx, info.key, key))) fail({ code: 'webhook-not-found' })
      await also?.(tx, webhook)
    })
  }

  /** What was sent, newest first. Throws webhook-not-found. */
  async deliveries(
    library: OwnedLibrary,
    key: number,
    page: { skip: number; limit: number },
  ): Promise<Delivery[]> {
    await this.#get(library, key)
    return listDeliveries(this.#options.db, key, page)
  }

  /** Sends something once more, as a delivery of its own. Throws webhook-not-found, delivery-not-found, webhook-queue-full. */
  async redeliver(library: OwnedLibrary, key: number, id: string): Promise<Delivery> {
    const { db, now, onPending } = this.#options
    await this.#get(library, key)
    const { event, body } = (await findDelivery(db, key, id)) ?? fail({ code: 'delivery-not-found' })
    if ((await countPending(db, key)) >= MOST_PENDING)
      fail({ code: 'webhook-queue-full', limit: MOST_PENDING })
    const again = { webhookKey: key, id: randomUUID(), event, body, createdAt: now() }
    await db.write((tx) => insertDeliveries(tx, [again]))
    onPending()
    return (await findDelivery(db, key, again.id)) ?? fail({ code: 'delivery-not-found' })
  }

  /** Tells receivers of commits. */
  readonly tell: Teller = async (library) => {
    if ((await listActingWebhooks(this.#options.db, library.key)).length === 0) return undefined
    return async (tx, commits) => {
      for (const webhook of await listActingWebhooks(tx, library.key)) {
        const news = commits.filter(({ commit }) => commit.seq > webhook.sinceSeq)
        const bodies = news.map((commit) => ({ event: 'commit' as const, body: commitBody(library, commit) }))
        await this.#enqueue(tx, webhook, bodies)
      }
    }
  }

  /** Tells receivers of what no commit tells, in the transaction it happens in. */
  async record(tx: Transaction, event: LibraryEvent): Promise<void> {
    // Whoever owns it now must not have it tell others what only they knew of.
    if (event.kind === 'transferred') return deleteWebhooksOf(tx, event.library.key)
    if (event.kind !== 'deleted' && event.kind !== 'restored' && event.kind !== 'trash-emptied') return
    const body = eventBody(event, this.#options.now())
    for (const webhook of await listActingWebhooks(tx, event.library.key)) {
      await this.#enqueue(tx, webhook, [{ event: event.kind, body }])
    }
  }

  /** A maintenance job. */
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
    const room = MOST_PENDING - (await countPending(tx, webhookKey))
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

  #parse(text: string): string {
    const url = parseWebhookUrl(text, this.#options.allowPrivate)
    return url?.href ?? fail({ code: 'webhook-url-invalid' })
  }
}
