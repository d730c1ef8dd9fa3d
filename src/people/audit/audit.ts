import { fail } from '../../base/errors.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { AuditAction, AuditObject } from './actions.ts'
import {
  type AuditEntry,
  type AuditFilter,
  appendAuditEntry,
  deleteAuditEntriesBefore,
  listAuditEntries,
} from './audit-store.ts'

const ROWS_PER_STEP = 1000
const DAY = 86_400
// Text from clients is truncated, so that unauthenticated callers cannot fill the log.
const MAX_TEXT = 1024
// Of a character up to 3 bytes: the column is indexed, and PostgreSQL rejects index entries of more than 2,704 bytes.
const MAX_INDEXED_TEXT = 512

/** Entries of one actor in an hour, in each process. Beyond, what would be audited is refused, so that nothing is missing in the log. */
const MAX_PER_HOUR = 3600
const HOUR = 3600
/** What ends something is bounded by what was made, and is never refused. Unknown callers are throttled before. */
const uncounted: ReadonlySet<AuditAction> = new Set([
  'login-failed',
  'logout',
  'password-changed',
  'password-reset-requested',
  'second-factor-removed',
  'trusted-device-removed',
  'api-token-revoked',
  'device-unlinked',
  'device-denied',
  'account-deleted',
  'library-deleted',
  'library-purged',
  'library-locked',
  'trash-cleaned',
  'share-ended',
  'link-ended',
  'group-deleted',
  'webhook-removed',
])

/** Who asked for an action, and from where. Each audited operation is passed one, and writes its entry. */
export interface AuditActor {
  readonly actor: string
  readonly address: string
  /** Whether any number of entries is written: for administrators. */
  readonly isUnlimited?: boolean
}

/** What is recorded of an action, without its actor. */
export interface AuditedAction {
  readonly action: AuditAction
  readonly objectKind: AuditObject
  readonly objectId: string
  readonly path?: string | undefined
  /** Must not contain a secret. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined
}

/** The audit log: actor, action, object, time and address. Append-only. */
export class Audit {
  readonly #db: Database
  readonly #now: () => number
  readonly #keepDays: number
  #hour = 0
  readonly #counts = new Map<string, number>()

  /** `keepDays`: -1 disables retention. */
  constructor(db: Database, now: () => number, keepDays: number) {
    this.#db = db
    this.#now = now
    this.#keepDays = keepDays
  }

  /**
   * Records an action in the transaction that performs it, so that neither is committed without the other. What no actor asked for is
   * not recorded. Throws too-many-tries.
   */
  async record(tx: Transaction, by: AuditActor | undefined, audited: AuditedAction): Promise<void> {
    if (by === undefined) return
    const { action, objectKind, objectId, path, detail } = audited
    if (by.isUnlimited !== true && !uncounted.has(action)) this.#count(by.actor)
    await appendAuditEntry(tx, {
      at: this.#now(),
      actor: plain(by.actor, MAX_INDEXED_TEXT),
      address: plain(by.address),
      action,
      objectKind,
      objectId: plain(objectId, MAX_INDEXED_TEXT),
      path: plain(path ?? ''),
      detail: detail ?? {},
    })
  }

  #count(actor: string): void {
    const now = this.#now()
    const hour = Math.floor(now / HOUR)
    if (hour !== this.#hour) this.#counts.clear()
    this.#hour = hour
    const count = (this.#counts.get(actor) ?? 0) + 1
    if (count > MAX_PER_HOUR) fail({ code: 'too-many-tries', seconds: (hour + 1) * HOUR - now })
    this.#counts.set(actor, count)
  }

  /** Records an action that has no transaction of its own. */
  async append(by: AuditActor, action: AuditedAction): Promise<void> {
    await this.#db.write((tx) => this.record(tx, by, action))
  }

  /** A page, newest first. `next` is the cursor of the following page. */
  async list(
    filter: AuditFilter,
    page: { before?: number | undefined; limit: number },
  ): Promise<{ entries: AuditEntry[]; next: number | undefined }> {
    const { before, limit } = page
    const found = await listAuditEntries(this.#db, filter, { before, limit: limit + 1 })
    const entries = found.slice(0, limit)
    return { entries, next: found.length > limit ? entries.at(-1)?.key : undefined }
  }

  /** All rows in batches, newest first. The export itself is recorded first. */
  async export(by: AuditActor, filter: AuditFilter): Promise<AsyncIterable<AuditEntry[]>> {
    await this.append(by, { action: 'audit-exported', objectKind: 'server', objectId: '' })
    return this.#pages(filter)
  }

  async *#pages(filter: AuditFilter): AsyncGenerator<AuditEntry[]> {
    let before: number | undefined
    do {
      const page = await this.list(filter, { before, limit: ROWS_PER_STEP })
      if (page.entries.length > 0) yield page.entries
      before = page.next
    } while (before !== undefined)
  }

  /** Maintenance: deletes rows older than the retention time. */
  async deleteOld(): Promise<void> {
    if (this.#keepDays < 0) return
    const time = this.#now() - this.#keepDays * DAY
    const step = () => this.#db.write((tx) => deleteAuditEntriesBefore(tx, time, ROWS_PER_STEP))
    while ((await step()) === ROWS_PER_STEP);
  }
}

function plain(text: string, most = MAX_TEXT): string {
  return text.toWellFormed().replaceAll('\0', '').slice(0, most).toWellFormed()
}
