import type { Database, Transaction } from '../database/index.ts'
import type { AuditAction, AuditObject } from './actions.ts'
import {
  type AuditEntry,
  type AuditFilter,
  appendAuditEntry,
  deleteAuditEntriesBefore,
  listAuditEntries,
} from './audit-store.ts'

const ROWS_A_STEP = 1000
const DAY = 86_400
// Texts that came from outside are kept short: a log must not be filled by whoever cannot even sign in.
const LONGEST_TEXT = 1024

/** Who did something, and from where. */
export interface Doer {
  readonly actor: string
  readonly address: string
}

/** Something that was done, to be put down. */
export interface AuditNote extends Doer {
  readonly action: AuditAction
  readonly objectKind: AuditObject
  readonly objectId: string
  readonly path?: string | undefined
  /** Never a secret. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined
}

/** The audit log: who did what to what, when and from where. It is added to and read; rows never change. */
export class Audit {
  readonly #db: Database
  readonly #now: () => number
  readonly #keepDays: number

  /** `keepDays` of -1 keeps everything. */
  constructor(db: Database, now: () => number, keepDays: number) {
    this.#db = db
    this.#now = now
    this.#keepDays = keepDays
  }

  /** Puts something down as part of the transaction that does it, so that neither is there without the other. */
  async record(tx: Transaction, note: AuditNote): Promise<void> {
    await appendAuditEntry(tx, {
      at: this.#now(),
      actor: plain(note.actor),
      address: plain(note.address),
      action: note.action,
      objectKind: note.objectKind,
      objectId: plain(note.objectId),
      path: plain(note.path ?? ''),
      detail: note.detail ?? {},
    })
  }

  /** `record`, for functions that take what is also to be written with an act. */
  noting(note: AuditNote): (tx: Transaction) => Promise<void> {
    return (tx) => this.record(tx, note)
  }

  /** Puts down what had no transaction of its own. */
  async note(note: AuditNote): Promise<void> {
    await this.#db.write((tx) => this.record(tx, note))
  }

  /** A page, newest first; `next` leads to the one after it. */
  async list(
    filter: AuditFilter,
    page: { before?: number | undefined; limit: number },
  ): Promise<{ entries: AuditEntry[]; next: number | undefined }> {
    const { before, limit } = page
    const found = await listAuditEntries(this.#db, filter, { before, limit: limit + 1 })
    const entries = found.slice(0, limit)
    return { entries, next: found.length > limit ? entries.at(-1)?.key : undefined }
  }

  /** Every row, newest first, some at a time. */
  async *pages(filter: AuditFilter): AsyncGenerator<AuditEntry[]> {
    let before: number | undefined
    do {
      const page = await this.list(filter, { before, limit: ROWS_A_STEP })
      if (page.entries.length > 0) yield page.entries
      before = page.next
    } while (before !== undefined)
  }

  /** Maintenance: takes away what is older than the operator wants to keep. */
  async deleteOld(): Promise<void> {
    if (this.#keepDays < 0) return
    const time = this.#now() - this.#keepDays * DAY
    const step = () => this.#db.write((tx) => deleteAuditEntriesBefore(tx, time, ROWS_A_STEP))
    while ((await step()) === ROWS_A_STEP);
  }
}

function plain(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').slice(0, LONGEST_TEXT).toWellFormed()
}
