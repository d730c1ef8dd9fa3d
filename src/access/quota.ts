import type { Database, Transaction } from '../database/database.ts'
import { fail } from '../errors.ts'
import type { Account } from '../identity/account.ts'
import type { Accounts } from '../identity/accounts.ts'
import type { GrowthGuard } from '../library/growth.ts'
import type { LibraryInfo } from '../library/library-info.ts'
import { usageOf, usageOfMany } from '../library/library-store.ts'
import {
  deleteReservation,
  deleteReservationsBefore,
  findOwnerQuota,
  hasReservation,
  insertReservation,
  lockOwner,
  prolongReservation,
  takenBy,
} from './quota-store.ts'

// A reservation of a process that died is forgotten after this long; a living one renews it.
const RESERVATION_SECONDS = 600
const RENEWAL_MS = (RESERVATION_SECONDS * 1000) / 3

/** Bytes set aside for an upload under way. Disposing gives back what was not settled. */
export interface Reservation extends AsyncDisposable {
  /** Gives the bytes back as part of the commit that makes them usage. */
  settle(tx: Transaction): Promise<void>
}

/** What the owners of libraries may store. Charged is the owner, whoever adds the bytes. */
export class Quotas {
  readonly #db: Database
  readonly #accounts: Accounts
  readonly #now: () => number
  /** Bytes; 0 for no limit. */
  readonly #serverDefault: number

  constructor(db: Database, accounts: Accounts, now: () => number, serverDefault: number) {
    this.#db = db
    this.#accounts = accounts
    this.#now = now
    this.#serverDefault = serverDefault
  }

  /** Bytes the account may store; undefined for no limit. */
  limitOf(account: Pick<Account, 'quota'>): number | undefined {
    const limit = account.quota > 0 ? account.quota : this.#serverDefault
    return limit > 0 ? limit : undefined
  }

  usageOf(account: Account): Promise<number> {
    return usageOf(this.#db, account.key)
  }

  /** Bytes in use by account key; accounts that own nothing have no entry. */
  usageOfMany(accounts: readonly Account[]): Promise<Map<number, number>> {
    return usageOfMany(
      this.#db,
      accounts.map((account) => account.key),
    )
  }

  /** What the owner of a library may still add; undefined for no limit. */
  async roomLeft(library: LibraryInfo): Promise<{ left: number; limit: number } | undefined> {
    const limit = await this.#limitOfOwner(library)
    if (limit === undefined) return undefined
    return { left: limit - (await takenBy(this.#db, library.ownerKey, this.#now())), limit }
  }

  /** Throws quota-exceeded if the owner has no room left at all. */
  async refuseIfFull(library: LibraryInfo): Promise<void> {
    const room = await this.roomLeft(library)
    if (room !== undefined && room.left <= 0) fail({ code: 'quota-exceeded', limit: room.limit })
  }

  /**
   * Sets bytes aside, so that uploads side by side cannot exceed the quota together. Throws
   * quota-exceeded when usage, what is set aside and these bytes would reach it.
   */
  async reserve(library: LibraryInfo, bytes: number): Promise<Reservation> {
    const limit = await this.#limitOfOwner(library)
    if (limit === undefined) return unlimited
    const { ownerKey } = library
    const key = await this.#db.write(
      async (tx) => {
        await lockOwner(tx, this.#db.dialect, ownerKey)
        const taken = await takenBy(tx, ownerKey, this.#now())
        if (taken + bytes >= limit) fail({ code: 'quota-exceeded', limit })
        return insertReservation(tx, ownerKey, bytes, this.#now() + RESERVATION_SECONDS)
      },
      { durable: false },
    )
    return this.#hold(key)
  }

  /** Checks every commit that adds bytes, whichever way they came: checks made before it can be outrun. */
  get growthGuard(): GrowthGuard {
    return {
      limitedOwner: async (tx, libraryKey) => {
        const owner = await findOwnerQuota(tx, libraryKey)
        const limit = owner && this.limitOf(owner)
        return limit === undefined ? undefined : { ownerKey: owner?.ownerKey ?? 0, limit }
      },
      check: async (tx, { ownerKey, limit }) => {
        await lockOwner(tx, this.#db.dialect, ownerKey)
        if ((await takenBy(tx, ownerKey, this.#now())) >= limit) fail({ code: 'quota-exceeded', limit })
      },
    }
  }

  /** Start-up and upkeep. */
  deleteExpired(): Promise<number> {
    return this.#db.write((tx) => deleteReservationsBefore(tx, this.#now()), { durable: false })
  }

  #hold(key: number): Reservation {
    const db = this.#db
    const write = (work: (tx: Transaction) => Promise<void>) => this.#db.write(work, { durable: false })
    const renewal = setInterval(() => {
      // A renewal that fails is tried again; the next one comes well before the reservation ends.
      write((tx) => prolongReservation(tx, key, this.#now() + RESERVATION_SECONDS)).catch(() => {})
    }, RENEWAL_MS).unref()
    return {
      settle: (tx) => deleteReservation(tx, key),
      async [Symbol.asyncDispose]() {
        clearInterval(renewal)
        // Most went with their commit, and a look costs far less than a transaction.
        if (await hasReservation(db, key)) await write((tx) => deleteReservation(tx, key))
      },
    }
  }

  async #limitOfOwner(library: LibraryInfo): Promise<number | undefined> {
    const owner = await this.#accounts.findByKey(library.ownerKey)
    return owner && this.limitOf(owner)
  }
}

const unlimited: Reservation = {
  settle: async () => {},
  [Symbol.asyncDispose]: async () => {},
}
