import type { Database, Transaction } from '../database/index.ts'
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

/** The actor of an action and its remote address. */
export interface AuditActor {
  readonly actor: string
  readonly address: string
}

/** An audit record to be written. */
export interface NewAuditEntry extends AuditActor {
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

  /** `keepDays`: -1 disables retention. */
  constructor(db: Database, now: () => number, keepDays: number) {
    this.#db = db
    this.#now = now
    this.#keepDays = keepDays
  }

  /** Records an action in the transaction that performs it, so that neither is committed without the other. */
  async record(tx: Transaction, entry: NewAuditEntry): Promise<void> {
    await appendAuditEntry(tx, {
      at: this.#now(),
      actor: plain(entry.actor, MAX_INDEXED_TEXT),
      address: plain(entry.address),
      action: entry.action,
      objectKind: entry.objectKind,
      objectId: plain(entry.objectId, MAX_INDEXED_TEXT),
      path: plain(entry.path ?? ''),
      detail: entry.detail ?? {},
    })
  }

  /** `record` as a `TransactionHook`, for functions that write further rows in their transaction. */
  alsoRecord(entry: NewAuditEntry): (tx: Transaction) => Promise<void> {
    return (tx) => this.record(tx, entry)
  }

  /** Records an action that has no transaction of its own. */
  async append(entry: NewAuditEntry): Promise<void> {
    await this.#db.write((tx) => this.record(tx, entry))
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

  /** All rows in batches, newest first. */
  async *pages(filter: AuditFilter): AsyncGenerator<AuditEntry[]> {
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
