import { randomUUID } from 'node:crypto'
import os from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { hasEnded, identifyProcess } from '../../base/process-identity.ts'
import type { RunningOperations } from '../../base/scheduling/index.ts'
import { type Database, DatabaseError, leaseEnded, type Reader } from '../../platform/database/index.ts'
import {
  deleteLease,
  FENCED,
  fenceLease,
  haveEndedBefore,
  insertLease,
  isLeaseHeld,
  type LeaseRow,
  leaseQuery,
  listLeases,
  newestTransaction,
  renewLease,
} from './lease-store.ts'

const RENEW_MS = 10_000
/** A process that has not renewed its lease for this long is taken for dead. It may still be alive, so its lease is ended before anything is deleted. */
const EXPIRY_SECONDS = 600
/** A process that has not renewed its lease for this long may be dead. */
const SILENT_SECONDS = 60
/** The clocks of processes on several machines differ by less. */
const CLOCK_SKEW_SECONDS = 5
/** For transactions of PostgreSQL that were running when a lease was ended. Those of a process that stands still are rolled back by the server after a minute. */
const TRANSACTIONS_END_MS = 90_000
const POLL_MS = 50

/**
 * The purpose of a backup process. It reads rows in one snapshot and the referenced blocks afterwards, so its lease delays the deletion of bytes
 * but not of rows. If it delayed rows too, expired history would accumulate for as long as a backup runs, and the next backup would store it.
 */
const BACKUP = 'backup'

/** A process that holds back garbage collection. */
export interface HeldLease {
  readonly purpose: string
  readonly pid: string
  readonly host: string
  /** When its oldest operation began, Unix seconds. */
  readonly since: number
  /** Since when the process has not been heard of; undefined for one that renews its lease. */
  readonly silentSince: number | undefined
}

/** What garbage collection may delete. */
interface Bound {
  /** Nothing condemned at this time or later may be deleted, in Unix seconds. */
  readonly at: number
  /** Who holds it back; undefined if nobody does for longer than it takes to renew a lease. */
  readonly holder: HeldLease | undefined
}

/**
 * Publishes the start of the oldest running operation of this process as a lease, and finds the oldest of all processes. Nothing
 * condemned since then is deleted (record 0036). Once another process has ended the lease, no transaction is committed that began under it (record 0112).
 */
export class OperationLeases implements AsyncDisposable {
  readonly query = leaseQuery
  readonly #db: Database
  readonly #operations: RunningOperations
  readonly #now: () => number
  readonly #purpose: string
  readonly #onError: (error: unknown) => void
  #node: string
  #timer: NodeJS.Timeout | undefined
  #renewing: Promise<void> = Promise.resolve()

  constructor(parts: {
    readonly db: Database
    readonly operations: RunningOperations
    readonly now: () => number
    readonly onError: (error: unknown) => void
    /** What the process is, for operators: `server` unless given. No slash. */
    readonly purpose?: string
  }) {
    this.#purpose = parts.purpose ?? 'server'
    this.#node = nameOf(this.#purpose)
    this.#db = parts.db
    this.#operations = parts.operations
    this.#now = parts.now
    this.#onError = parts.onError
  }

  /** The processes that hold back the deletion of rows now. A process that works on nothing is left out. */
  static async list(reader: Reader, now: number): Promise<HeldLease[]> {
    const leases = await listLeases(reader)
    return leases.flatMap((lease) => (isOfBackup(lease) ? [] : (holderOf(lease, now) ?? [])))
  }

  /** Resolves once other processes see the lease. It is renewed until this is disposed of, and guards what this process commits unless it is that of a backup. */
  async start(): Promise<void> {
    await this.#acquire()
    if (this.#purpose !== BACKUP) this.#db.commitGuard = this
    this.#timer = setInterval(() => {
      this.#renewing = this.#renew().catch(this.#onError)
    }, RENEW_MS).unref()
  }

  currentLease(): string {
    if (!this.#operations.isKept(this.#operations.current)) throw leaseEnded()
    return this.#node
  }

  /** Names the lease to another process, which works under it. That of a command stays the same. */
  get name(): string {
    return this.#node
  }

  /** False if the lease of this name has ended: what was condemned since it began may be deleted. */
  static isHeld(reader: Reader, name: string): Promise<boolean> {
    return isLeaseHeld(reader, name)
  }

  /**
   * Ends the leases of processes that have ended or were silent for too long. Resolves once none of their transactions can be committed any more. Leases of which
   * that could not be found out go on to count. To be called before `bound`.
   */
  async fence(): Promise<void> {
    const oldest = this.#now() - EXPIRY_SECONDS
    const isOver = (lease: LeaseRow) => lease.renewedAt < oldest || hasEnded(identityOf(lease))
    const over = (await listLeases(this.#db)).filter((lease) => lease.node !== this.#node && isOver(lease))
    if (over.length === 0) return
    const holding = over.filter(({ node }) => !node.endsWith(FENCED))
    await this.#db.write(async (tx) => {
      for (const lease of holding) await fenceLease(tx, lease)
    })
    if (!(await this.#haveTransactionsEnded())) return
    const fenced = over.map(({ node }) => (node.endsWith(FENCED) ? node : `${node}${FENCED}`))
    await this.#db.write(async (tx) => {
      for (const node of fenced) await deleteLease(tx, node)
    })
  }

  /** Read it before looking for what is in use. */
  async bound(of: 'rows' | 'bytes'): Promise<Bound> {
    const now = this.#now()
    const own = this.#operations.oldest() ?? now
    const others = (await listLeases(this.#db)).filter(
      (lease) => lease.node !== this.#node && (of === 'bytes' || !isOfBackup(lease)),
    )
    const [first] = others
    const at = Math.min(own, first === undefined ? now : first.oldestAt - CLOCK_SKEW_SECONDS)
    if (own < now && own <= at)
      return { at, holder: { ...describe(this.#node), since: own, silentSince: undefined } }
    return { at, holder: first && holderOf(first, now) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
    if (this.#db.commitGuard === this) this.#db.commitGuard = undefined
    if (this.#timer !== undefined) {
      await this.#db.write((tx) => deleteLease(tx, this.#node), { durable: false }).catch(this.#onError)
    }
  }

  #row(): LeaseRow {
    const now = this.#now()
    return { node: this.#node, oldestAt: this.#operations.oldest() ?? now, renewedAt: now }
  }

  async #acquire(): Promise<void> {
    await this.#db.write((tx) => insertLease(tx, this.#row()), { durable: false })
  }

  async #renew(): Promise<void> {
    const isHeld = await this.#db
      .write((tx) => renewLease(tx, this.#row()), { durable: false })
      .catch((error: unknown) => {
        if (error instanceof DatabaseError && error.reason === 'fenced') return false
        throw error
      })
    if (isHeld) return
    // A command relies on everything it has done so far. A server goes on with new operations.
    if (this.#purpose !== 'server') throw leaseEnded()
    this.#operations.endLease()
    this.#node = nameOf(this.#purpose)
    await this.#acquire()
  }

  async #haveTransactionsEnded(): Promise<boolean> {
    const newest = await newestTransaction(this.#db)
    if (newest === undefined) return true
    for (const end = performance.now() + TRANSACTIONS_END_MS; performance.now() < end; ) {
      if (await haveEndedBefore(this.#db, newest)) return true
      await delay(POLL_MS)
    }
    return false
  }
}

/** The process is for operators. The rest makes it unique, and tells other processes of its machine when it has ended. */
function nameOf(purpose: string): string {
  return [purpose, process.pid, os.hostname(), randomUUID(), identifyProcess() ?? ''].join('/')
}

function identityOf({ node }: LeaseRow): string {
  return node.split('/')[4] ?? ''
}

function describe(node: string): Pick<HeldLease, 'purpose' | 'pid' | 'host'> {
  const [purpose = node, pid = '?', host = '?'] = node.split('/')
  return { purpose, pid, host }
}

function isOfBackup({ node }: LeaseRow): boolean {
  return node.startsWith(`${BACKUP}/`)
}

/** Undefined for a process that works on nothing, as far as it is known. */
function holderOf({ node, oldestAt, renewedAt }: LeaseRow, now: number): HeldLease | undefined {
  const isSilent = renewedAt < now - SILENT_SECONDS
  if (oldestAt >= renewedAt && !isSilent) return undefined
  return { ...describe(node), since: oldestAt, silentSince: isSilent ? renewedAt : undefined }
}
