import { randomInt, randomUUID } from 'node:crypto'
import type { Registry } from 'prom-client'
import { registerGauges, type StateMetric } from '../../base/metrics.ts'
import { BackgroundQueue } from '../../base/scheduling/index.ts'
import type { Database, Reader, Transaction } from '../../platform/database/index.ts'
import {
  claimMail,
  countMails,
  deleteEndedBefore,
  endMail,
  insertMail,
  listDue,
  type Mail,
  type NewMail,
  nextDue,
  type OutboxFigures,
  outboxFigures,
  releaseMail,
  setLastItem,
  setRetry,
} from './mail-store.ts'
import type { MailContent } from './message.ts'
import { MailRefused, Smtp, type SmtpSettings } from './smtp.ts'

const AT_ONCE = 4
// Longer than an attempt, so that a mail claimed by a process that crashed is sent by another one.
const LEASE_SECONDS = 180
const ATTEMPT_MS = 120_000
const FIRST_RETRY_SECONDS = 60
const MAX_RETRY_SECONDS = 6 * 3600
const GIVE_UP_SECONDS = 48 * 3600
const KEPT_SECONDS = 30 * 86_400
const DAY_SECONDS = 86_400
/** Deferred work begins at a random time in between, so that the load it causes does not tell of what request it is. */
const DEFER_MS = [1000, 5000] as const
const SITE = 'Carrel'

/** Writes the content of a mail when it is sent. Undefined if it should not be sent any more, because a right or a token has ended. */
interface MailComposer {
  compose(mail: Mail): Promise<MailContent | undefined>
  /** The newest notification of the recipient, for a mail that collects them. */
  lastItem?(reader: Reader, accountKey: number): Promise<number>
}

interface OutboxOptions {
  readonly db: Database
  /** Undefined sends no mail. */
  readonly settings: (SmtpSettings & { readonly publicUrl: string }) | undefined
  /** Unix seconds. */
  readonly now: () => number
  /** Called with errors of the server itself. Answers of the mail server are stored with the mail. */
  readonly onError: (error: unknown) => void
}

/** What administrators see of mail. */
export type MailState = OutboxFigures & { readonly isConfigured: boolean }

/**
 * The outbox: mails are rows, written in the transaction of what causes them, and sent in the background at least once. What a mail says is
 * decided when it is sent, so that it tells nothing the recipient may not see any more.
 */
export class Outbox implements AsyncDisposable {
  readonly #options: OutboxOptions
  readonly #composers = new Map<string, MailComposer>()
  readonly #queue: BackgroundQueue
  readonly #smtp: Smtp | undefined
  /** Deferred work, and what begins it at once. */
  readonly #deferred = new Map<Promise<void>, () => void>()

  constructor(options: OutboxOptions) {
    this.#options = options
    const { db, settings, now, onError } = options
    this.#smtp = settings && new Smtp(settings)
    this.#queue = new BackgroundQueue({
      processBatch: () => this.#sendBatch(),
      secondsUntilDue: async () => {
        const due = await nextDue(db)
        return due === undefined ? undefined : due - now()
      },
      maxPauseSeconds: 3600,
      onError,
    })
  }

  /** Whether mail is sent at all. */
  get isConfigured(): boolean {
    return this.#smtp !== undefined
  }

  /** The name of this server in mails. */
  get site(): string {
    return SITE
  }

  /** The URL of a page of the web app, such as `account/notifications`. */
  appUrl(page: string): string {
    return `${this.#options.settings?.publicUrl ?? ''}/app/${page}`
  }

  /** The base URL of the server. */
  get baseUrl(): string {
    return this.#options.settings?.publicUrl ?? ''
  }

  /** Sets who writes the mails of a kind. */
  register(kind: string, composer: MailComposer): void {
    this.#composers.set(kind, composer)
  }

  /** Queues a mail in the transaction of what causes it. Does nothing if mail is not configured. */
  async put(
    tx: Transaction,
    { id = randomUUID(), ...mail }: Omit<NewMail, 'id'> & { readonly id?: string },
    delaySeconds = 0,
  ): Promise<void> {
    if (!this.isConfigured) return
    const now = this.#options.now()
    await insertMail(tx, { ...mail, id }, { now, nextAt: now + delaySeconds })
    tx.afterCommit(() => this.#queue.wake())
  }

  /** Runs `work`, which queues a mail, a few seconds later, without the caller waiting for it. A failure is reported, not thrown. */
  defer(work: () => Promise<void>): void {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const timer = setTimeout(begin, randomInt(...DEFER_MS))
    const running = begun
      .then(work)
      .catch(this.#options.onError)
      .finally(() => {
        clearTimeout(timer)
        this.#deferred.delete(running)
      })
    this.#deferred.set(running, begin)
  }

  /** How many mails of a kind an account got or caused in 24 hours. */
  countOfDay(
    reader: Reader,
    by: { readonly accountKey: number } | { readonly senderKey: number },
    kind: string,
  ): Promise<number> {
    return countMails(reader, by, kind, this.#options.now() - DAY_SECONDS)
  }

  /** Sends a mail now, without the outbox. Throws MailRefused with the answer of the mail server. */
  async sendNow(content: MailContent): Promise<void> {
    if (this.#smtp === undefined) throw new MailRefused('No mail server is configured.', true, undefined)
    await this.#smtp.send(content, { id: randomUUID(), site: SITE }, AbortSignal.timeout(ATTEMPT_MS))
  }

  /** Figures of the last 24 hours. */
  async state(): Promise<MailState> {
    const { db, now } = this.#options
    return { isConfigured: this.isConfigured, ...(await outboxFigures(db, now(), now() - DAY_SECONDS)) }
  }

  /** Also sends mails left by an earlier process. Called again from time to time, for those of a process that stopped. */
  wake(): void {
    if (this.isConfigured) this.#queue.wake()
  }

  /** Resolves once nothing is due. */
  async settled(): Promise<void> {
    await this.#runDeferred()
    await this.#queue.settled()
  }

  /** Maintenance. */
  deleteOld(): Promise<number> {
    const { db, now } = this.#options
    return db.write((tx) => deleteEndedBefore(tx, now() - KEPT_SECONDS), { durable: false })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runDeferred()
    await this.#queue.stop()
  }

  async #runDeferred(): Promise<void> {
    for (const begin of this.#deferred.values()) begin()
    await Promise.all(this.#deferred.keys())
  }

  /** Claims and sends some mails. Resolves to the number of claimed ones. */
  async #sendBatch(): Promise<number> {
    const { db, now } = this.#options
    if (this.#smtp === undefined) return 0
    const claimed: Mail[] = []
    for (const key of await listDue(db, now(), AT_ONCE)) {
      const mail = await db.write((tx) => this.#claim(tx, key))
      if (mail !== undefined) claimed.push(mail)
    }
    await Promise.all(claimed.map((mail) => this.#deliver(mail)))
    return claimed.length
  }

  async #claim(tx: Transaction, key: number): Promise<Mail | undefined> {
    const now = this.#options.now()
    const mail = await claimMail(tx, key, now, now + LEASE_SECONDS)
    if (mail === undefined || mail.firstItem === null || mail.lastItem !== null) return mail
    // Read after the row is locked. A later notification begins a mail of its own.
    const lastItem = await this.#composers.get(mail.kind)?.lastItem?.(tx, mail.accountKey ?? 0)
    if (lastItem === undefined) return mail
    await setLastItem(tx, key, lastItem)
    return { ...mail, lastItem }
  }

  /** Never rejects. */
  async #deliver(mail: Mail): Promise<void> {
    const { db, now, onError } = this.#options
    const { signal } = this.#queue
    try {
      const content = await this.#composers.get(mail.kind)?.compose(mail)
      if (content === undefined) {
        await db.write((tx) => endMail(tx, mail, { state: 'dropped', error: '', now: now() }))
        return
      }
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)])
      await this.#smtp?.send(content, { id: mail.id, site: SITE }, limit)
      await db.write((tx) => endMail(tx, mail, { state: 'sent', error: '', now: now() }))
    } catch (error) {
      if (!(error instanceof MailRefused) && !signal.aborted) onError(error)
      await this.#postpone(mail, error).catch(onError)
    }
  }

  async #postpone(mail: Mail, error: unknown): Promise<void> {
    const { db, now } = this.#options
    await db.write(async (tx) => {
      if (this.#queue.signal.aborted) return releaseMail(tx, mail)
      const message = error instanceof MailRefused ? error.message : 'The mail could not be composed or sent.'
      const isPermanent = error instanceof MailRefused && error.isPermanent
      const wait = Math.min(FIRST_RETRY_SECONDS * 2 ** mail.attempts, MAX_RETRY_SECONDS)
      if (isPermanent || now() + wait > mail.createdAt + GIVE_UP_SECONDS) {
        return endMail(tx, mail, { state: 'failed', error: message, now: now() })
      }
      return setRetry(tx, mail, message, now() + wait)
    })
  }
}

const gauges: readonly StateMetric<MailState>[] = [
  { name: 'carrel_mail_waiting', help: 'Mails that are due and not sent yet', of: ({ waiting }) => waiting },
  {
    name: 'carrel_mail_oldest_waiting_timestamp_seconds',
    help: 'Time when the oldest waiting mail was queued; 0 if none is waiting',
    of: ({ oldestWaitingAt }) => oldestWaitingAt ?? 0,
  },
  { name: 'carrel_mail_sent', help: 'Mails sent in the last 24 hours', of: ({ sent }) => sent },
  { name: 'carrel_mail_failed', help: 'Mails given up in the last 24 hours', of: ({ failed }) => failed },
]

/** Registers the metrics of mail. */
export function registerMailMetrics(registry: Registry, state: () => Promise<MailState>): void {
  registerGauges(registry, gauges, state)
}
