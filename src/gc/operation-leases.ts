import { randomUUID } from 'node:crypto'
import os from 'node:os'
import type { Database, Reader } from '../database/index.ts'
import type { RunningOperations } from '../scheduling/index.ts'
import { deleteLease, deleteLeasesBefore, listLeases, oldestLease, putLease } from './lease-store.ts'

const RENEW_MS = 10_000
/** A process that has not renewed its lease for this long is dead. */
const EXPIRY_SECONDS = 600
/** An operation that runs longer does not hold back garbage collection any more: a client could otherwise hold it back for ever. */
const MAX_OPERATION_SECONDS = 7 * 86_400
/** The clocks of processes on several machines differ by less. */
const CLOCK_SKEW_SECONDS = 5

/**
 * The purpose of a backup process. It reads rows in one snapshot and the referenced blocks afterwards, so its lease delays the deletion of bytes
 * but not of rows. If it delayed rows too, expired history would accumulate for as long as a backup runs, and the next backup would store it.
 */
const BACKUP = 'backup'

/** An operation that holds back garbage collection. */
interface HeldLease {
  readonly purpose: string
  readonly pid: string
  readonly host: string
  /** When the operation began, Unix seconds. */
  readonly since: number
}

/**
 * Publishes the start of the oldest running operation of this process as a lease, and finds the oldest of all processes. Nothing
 * condemned since then is deleted (record 0036).
 */
export class OperationLeases implements AsyncDisposable {
  readonly #db: Database
  readonly #operations: RunningOperations
  readonly #now: () => number
  readonly #node: string
  readonly #onError: (error: unknown) => void
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
    const { purpose = 'server' } = parts
    this.#node = [purpose, process.pid, os.hostname(), randomUUID()].join('/')
    this.#db = parts.db
    this.#operations = parts.operations
    this.#now = parts.now
    this.#onError = parts.onError
  }

  /** The operations that hold back the deletion of rows now. A process that works on nothing is left out. */
  static async list(reader: Reader, now: number): Promise<HeldLease[]> {
    const leases = await listLeases(reader, now - EXPIRY_SECONDS)
    return leases
      .filter(({ oldestAt, renewedAt }) => oldestAt < renewedAt)
      .map(({ node, oldestAt }) => {
        const [purpose = node, pid = '?', host = '?'] = node.split('/')
        return { purpose, pid, host, since: oldestAt }
      })
      .filter(({ purpose }) => purpose !== BACKUP)
  }

  /** Resolves once other processes see the lease. It is renewed until this is disposed of. */
  async start(): Promise<void> {
    await this.#renew()
    this.#timer = setInterval(() => {
      this.#renewing = this.#renew().catch(this.#onError)
    }, RENEW_MS).unref()
  }

  /** Nothing condemned at this time or later may be deleted, in Unix seconds. Read it before looking for what is in use. */
  async bound(of: 'rows' | 'bytes'): Promise<number> {
    const now = this.#now()
    const own = this.#operations.oldest(now - MAX_OPERATION_SECONDS) ?? now
    const others = await oldestLease(this.#db, this.#node, {
      since: now - EXPIRY_SECONDS,
      except: of === 'rows' ? `${BACKUP}/` : undefined,
    })
    return Math.min(own, others === undefined ? now : others - CLOCK_SKEW_SECONDS)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
    if (this.#timer !== undefined) {
      await this.#db.write((tx) => deleteLease(tx, this.#node), { durable: false }).catch(this.#onError)
    }
  }

  async #renew(): Promise<void> {
    const now = this.#now()
    const oldestAt = this.#operations.oldest(now - MAX_OPERATION_SECONDS) ?? now
    await this.#db.write(
      async (tx) => {
        await putLease(tx, { node: this.#node, oldestAt, renewedAt: now })
        await deleteLeasesBefore(tx, now - EXPIRY_SECONDS)
      },
      { durable: false },
    )
  }
}
