import type { Database } from '../../platform/database/index.ts'
import {
  type Attempt,
  claimDelivery,
  type Delivery,
  listDue,
  nextDue,
  releaseDelivery,
  setDelivered,
  setDropped,
  setGivenUp,
  setRetry,
  trimDeliveries,
} from './webhook-delivery-store.ts'
import { postWebhook, type WebhookNetwork, WebhookUnreachable } from './webhook-request.ts'
import { signWebhook, type WebhookSecrets } from './webhook-secret.ts'
import { findWebhookByKey, isActing, type Webhook } from './webhook-store.ts'

/** Delays between attempts, in seconds. After the last one the delivery fails. */
export const RETRY_SECONDS = [10, 60, 300, 1800, 7200, 21_600, 43_200]
const DELIVERIES_AT_ONCE = 8
const DELIVERIES_KEPT = 200
/** A webhook with this many failed deliveries in a row is disabled until its owner enables it. */
const MAX_FAILURES = 5
// Lease of a delivery, longer than any attempt, so that one claimed by a crashed process becomes free again.
const CLAIM_SECONDS = 30
const OWNER_GONE = 'Not sent: the account that made the webhook is not active.'
const MAX_REST_MS = 60_000

interface WebhookSenderOptions {
  readonly db: Database
  readonly secrets: WebhookSecrets
  readonly network: WebhookNetwork
  /** Unix seconds. */
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/**
 * Sends pending deliveries, several concurrently but one at a time per webhook, so that a slow receiver
 * delays no other. Pending deliveries are stored in the database: they survive a restart and are sent at
 * least once.
 */
export class WebhookSender implements AsyncDisposable {
  readonly #options: WebhookSenderOptions
  readonly #busy = new Map<number, Promise<void>>()
  readonly #stop = new AbortController()
  #looking: Promise<void> | undefined
  #lookAgain = false
  #timer: NodeJS.Timeout | undefined
  #started = false

  constructor(options: WebhookSenderOptions) {
    this.#options = options
  }

  /** Also sends deliveries left by an earlier process. */
  start(): void {
    this.#started = true
    this.wake()
  }

  /** Looks for due deliveries now. */
  wake(): void {
    if (!this.#started || this.#stop.signal.aborted) return
    this.#lookAgain = true
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
      // It was called again while the next wake-up was computed.
      if (this.#lookAgain) this.wake()
    })
  }

  /** Resolves when no delivery is due or running. */
  async settled(): Promise<void> {
    this.wake()
    while (this.#looking !== undefined || this.#busy.size > 0) {
      await this.#looking
      await Promise.all(this.#busy.values())
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    clearTimeout(this.#timer)
    await this.#looking
    await Promise.all(this.#busy.values())
  }

  async #look(): Promise<void> {
    const { onError } = this.#options
    clearTimeout(this.#timer)
    while (this.#lookAgain && !this.#stop.signal.aborted) {
      this.#lookAgain = false
      try {
        await this.#begin()
      } catch (error) {
        if (!this.#stop.signal.aborted) onError(error)
      }
    }
    await this.#rest()
  }

  /** Starts deliveries up to the limit of concurrent ones. */
  async #begin(): Promise<void> {
    const { db, now } = this.#options
    const room = DELIVERIES_AT_ONCE - this.#busy.size
    if (room <= 0) return
    // The first due ones may belong to busy webhooks.
    const due = await listDue(db, now(), room + this.#busy.size)
    for (const { webhookKey, key } of due) {
      if (this.#busy.has(webhookKey) || this.#busy.size >= DELIVERIES_AT_ONCE) continue
      const delivery = await db.write((tx) => claimDelivery(tx, key, now(), now() + CLAIM_SECONDS), {
        durable: false,
      })
      if (delivery === undefined) continue
      const running = this.#deliver(delivery).finally(() => {
        this.#busy.delete(webhookKey)
        this.wake()
      })
      this.#busy.set(webhookKey, running)
    }
  }

  /** Schedules the next look for when a delivery is due. */
  async #rest(): Promise<void> {
    if (this.#stop.signal.aborted) return
    const at = await nextDue(this.#options.db).catch(() => undefined)
    if (this.#stop.signal.aborted) return
    // Without a due one too: another process, such as `carrel gc`, may have queued deliveries.
    const ms =
      at === undefined
        ? MAX_REST_MS
        : Math.min(MAX_REST_MS, Math.max(1000, (at - this.#options.now()) * 1000))
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.wake(), ms).unref()
  }

  /** Never rejects. */
  async #deliver(delivery: Delivery): Promise<void> {
    const { db, now, onError } = this.#options
    try {
      const webhook = await findWebhookByKey(db, delivery.webhookKey)
      if (webhook === undefined) return
      // Checked before each attempt, so that nothing is sent for an account that is inactive or not the owner
      // any more.
      if (!(await isActing(db, webhook.key))) {
        await db.write((tx) => setDropped(tx, delivery, OWNER_GONE, now()))
        return
      }
      const attempt = await this.#attempt(webhook, delivery)
      await db.write(async (tx) => {
        if (attempt === undefined) return releaseDelivery(tx, delivery)
        if (attempt.error === '') await setDelivered(tx, delivery, attempt, now())
        else {
          const wait = RETRY_SECONDS[delivery.attempts]
          if (wait === undefined) await setGivenUp(tx, delivery, attempt, now(), MAX_FAILURES)
          else await setRetry(tx, delivery, attempt, now() + wait)
        }
        return trimDeliveries(tx, delivery.webhookKey, DELIVERIES_KEPT)
      })
    } catch (error) {
      onError(error)
    }
  }

  /** Undefined if it was aborted because the server stops. */
  async #attempt(webhook: Webhook, delivery: Delivery): Promise<Attempt | undefined> {
    const { secrets, network, now } = this.#options
    const timestamp = now()
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'User-Agent': 'Carrel-Webhook',
      'X-Carrel-Event': delivery.event,
      'X-Carrel-Delivery': delivery.id,
      'X-Carrel-Timestamp': String(timestamp),
      'X-Carrel-Signature': `sha256=${signWebhook(secrets.open(webhook.secret), timestamp, delivery.body)}`,
    }
    try {
      const { signal } = this.#stop
      const { status, text } = await postWebhook(
        network,
        new URL(webhook.url),
        delivery.body,
        headers,
        signal,
      )
      const isTaken = status >= 200 && status < 300
      return { status, answer: text, error: isTaken ? '' : `The receiver answered with ${status}.` }
    } catch (error) {
      if (this.#stop.signal.aborted) return undefined
      if (!(error instanceof WebhookUnreachable)) throw error
      return { status: undefined, answer: '', error: error.message }
    }
  }
}
