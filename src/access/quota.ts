import { type GrowthGuard, type LibraryInfo, usageOf, usageOfMany } from '../commits/index.ts'
import type { Database, Transaction } from '../database/index.ts'
import { fail } from '../errors.ts'
import { type Account, type Accounts, lockAccount } from '../identity/index.ts'
import type { Library } from '../library/index.ts'
import { historyBytesOf } from '../usage/index.ts'
import {
  countUnfinished,
  deleteExpiredPartials,
  deletePartialOfFile,
  deleteReservation,
  deleteReservationsBefore,
  findOwnerQuota,
  type Guest,
  hasReservation,
  insertReservation,
  listEvictable,
  listGuestReservations,
  MEMBER,
  type NotCounted,
  OWN,
  prolongReservation,
  type Taken,
  takenBy,
  type UploadSource,
  VISITOR,
} from './quota-store.ts'

export type { Guest, UploadSource } from './quota-store.ts'

// A reservation of a process that died expires after this long; a living one renews it.
const RESERVATION_SECONDS = 600
const RENEWAL_MS = (RESERVATION_SECONDS * 1000) / 3
/** Objects and commits waiting in the libraries of an owner, whatever the quota is. */
const LEAST_FOR_OBJECTS = 100_000_000
/** Unfinished uploads of one account, and through one link. */
const MOST_UPLOADS = 1000
const MOST_UPLOADS_OF_LINK = 100

/** Bytes set aside for an upload under way. Disposing gives back what was not settled. */
export interface Reservation extends AsyncDisposable {
  /** Undefined where nothing is limited. */
  readonly key: number | undefined
  /** Gives the bytes back as part of the commit that makes them usage. */
  settle(tx: Transaction): Promise<void>
}

/** In bytes; 0 for no limit. */
export interface QuotaLimits {
  /** What an account may store unless it has a quota of its own. */
  readonly serverDefault: number
  /** What may be unfinished in the libraries of one owner, and of it through links. */
  readonly unfinished: number
  readonly linkUnfinished: number
  /** What older versions and deleted files may take in the libraries of one owner. */
  readonly history: number
}

export interface QuotasOptions {
  readonly db: Database
  readonly accounts: Accounts
  /** Unix seconds. */
  readonly now: () => number
  readonly limits: QuotaLimits
  /** Called after commit with the files of unfinished uploads that were given up to make room. */
  readonly onEvicted?: (files: readonly string[]) => Promise<void>
}

/** Whose bytes an upload into a library brings. */
export function guestOf({ info, actor }: Library, isOfLink = false): Guest {
  if (isOfLink) return VISITOR
  return info.ownerKey === actor.key ? OWN : MEMBER
}

/**
 * What the owners of libraries may store. Charged is the owner, whoever adds the bytes. What guests have under way never
 * keeps the owner from the quota: the owner's uploads take its place.
 */
export class Quotas {
  readonly #db: Database
  readonly #accounts: Accounts
  readonly #now: () => number
  readonly #limits: QuotaLimits
  readonly #onEvicted: (files: readonly string[]) => Promise<void>

  constructor({ db, accounts, now, limits, onEvicted = async () => {} }: QuotasOptions) {
    this.#db = db
    this.#accounts = accounts
    this.#now = now
    this.#limits = limits
    this.#onEvicted = onEvicted
  }

  /** Bytes the account may store; undefined for no limit. */
  limitOf(account: Pick<Account, 'quota'>): number | undefined {
    const limit = account.quota > 0 ? account.quota : this.#limits.serverDefault
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

  /** What the owner of a library may still add, or a guest there; undefined for no limit. */
  async roomLeft(
    library: LibraryInfo,
    guest: Guest = OWN,
  ): Promise<{ left: number; limit: number } | undefined> {
    if (await this.#hasFullHistory(library)) return { left: 0, limit: this.#limits.history }
    const limit = await this.#limitOfOwner(library)
    if (limit === undefined) return undefined
    const taken = await takenBy(this.#db, library.ownerKey, this.#now())
    return { left: roomFor(guest, taken, limit), limit }
  }

  /** Throws quota-exceeded if there is no room left at all. */
  async refuseIfFull(library: LibraryInfo, guest: Guest = OWN): Promise<void> {
    const room = await this.roomLeft(library, guest)
    if (room !== undefined && room.left <= 0) fail({ code: 'quota-exceeded', limit: room.limit })
  }

  /**
   * Sets bytes aside, so that uploads side by side cannot exceed the quota together. Throws quota-exceeded when usage,
   * what is set aside and these bytes would reach it. The owner's bytes take the place of what guests have under way.
   */
  async reserve(
    library: LibraryInfo,
    bytes: number,
    { guest = OWN, restarted }: { guest?: Guest } & Pick<NotCounted, 'restarted'> = {},
  ): Promise<Reservation> {
    if (await this.#hasFullHistory(library)) fail({ code: 'quota-exceeded', limit: this.#limits.history })
    const limit = await this.#limitOfOwner(library)
    if (limit === undefined) return unlimited
    const { ownerKey } = library
    const key = await this.#db.write(
      async (tx) => {
        await lockAccount(tx, this.#db.dialect, ownerKey)
        const now = this.#now()
        const taken = await takenBy(tx, ownerKey, now, restarted && { restarted })
        if (bytes >= roomFor(guest, taken, limit)) fail({ code: 'quota-exceeded', limit })
        if (guest === OWN) await this.#makeRoom(tx, ownerKey, bytes - roomFor(MEMBER, taken, limit) + 1)
        return insertReservation(tx, ownerKey, { bytes, guest, expiresAt: now + RESERVATION_SECONDS })
      },
      { durable: false },
    )
    return this.#hold(key)
  }

  /**
   * In the transaction that notes how much came of an unfinished upload: whether that much may wait. `reservation` is
   * that of the request, which the bytes were set aside for. Throws quota-exceeded, too-many-uploads.
   */
  async checkUnfinished(
    tx: Transaction,
    source: UploadSource,
    guest: Guest,
    reservation: number | undefined,
  ): Promise<void> {
    const owner = await findOwnerQuota(tx, source.libraryKey)
    if (owner === undefined) return
    const { ownerKey } = owner
    await lockAccount(tx, this.#db.dialect, ownerKey)
    const now = this.#now()
    this.#evicted(tx, await deleteExpiredPartials(tx, now, ownerKey))
    const most = guest === VISITOR ? MOST_UPLOADS_OF_LINK : MOST_UPLOADS
    if ((await countUnfinished(tx, source)) > most) fail({ code: 'too-many-uploads', limit: most })
    const taken = await takenBy(tx, ownerKey, now, { reservation })
    const limit = this.limitOf(owner)
    if (limit !== undefined && roomFor(guest, taken, limit) <= 0) fail({ code: 'quota-exceeded', limit })
    const { unfinished, linkUnfinished } = this.#limits
    refuseBeyond(taken.unfinished, unfinished)
    if (guest === VISITOR) refuseBeyond(taken.visitorUnfinished, linkUnfinished)
  }

  /**
   * Bytes that blocks, or objects and commits, that no history names yet may take in the libraries of an owner: as much
   * as the quota, because a push sends all of a tree before its commit. However small that is, there is room for the
   * objects that delete something.
   */
  async uncommittedAllowance(library: LibraryInfo, kind: 'blocks' | 'objects'): Promise<number | undefined> {
    const quota = await this.#limitOfOwner(library)
    const limit = quota !== undefined && kind === 'objects' ? Math.max(quota, LEAST_FOR_OBJECTS) : quota
    const { unfinished } = this.#limits
    if (unfinished === 0) return limit
    return Math.min(limit ?? unfinished, unfinished)
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
        await lockAccount(tx, this.#db.dialect, ownerKey)
        const taken = await takenBy(tx, ownerKey, this.#now())
        if (roomFor(OWN, taken, limit) <= 0) fail({ code: 'quota-exceeded', limit })
      },
    }
  }

  /** Start-up and upkeep. */
  deleteExpired(): Promise<number> {
    return this.#db.write((tx) => deleteReservationsBefore(tx, this.#now()), { durable: false })
  }

  /** Maintenance: unfinished uploads nobody adds to any more. */
  async deleteExpiredUploads(): Promise<void> {
    await this.#onEvicted(await this.#db.write((tx) => deleteExpiredPartials(tx, this.#now())))
  }

  /** Gives up unfinished uploads, then reservations of guests, until so many bytes are free. */
  async #makeRoom(tx: Transaction, ownerKey: number, bytes: number): Promise<void> {
    let missing = bytes
    if (missing <= 0) return
    const files: string[] = []
    for (const { file, received } of await listEvictable(tx, ownerKey, this.#now())) {
      if (missing <= 0) break
      await deletePartialOfFile(tx, file)
      files.push(file)
      missing -= received
    }
    this.#evicted(tx, files)
    if (missing <= 0) return
    for (const { key, bytes: reserved } of await listGuestReservations(tx, ownerKey)) {
      if (missing <= 0) break
      // The guest's commit is checked again.
      await deleteReservation(tx, key)
      missing -= reserved
    }
  }

  #evicted(tx: Transaction, files: readonly string[]): void {
    if (files.length > 0) tx.afterCommit(() => void this.#onEvicted(files))
  }

  #hold(key: number): Reservation {
    const db = this.#db
    const write = (work: (tx: Transaction) => Promise<void>) => this.#db.write(work, { durable: false })
    const renewal = setInterval(() => {
      // A renewal that fails is tried again; the next one comes well before the reservation ends.
      write((tx) => prolongReservation(tx, key, this.#now() + RESERVATION_SECONDS)).catch(() => {})
    }, RENEWAL_MS).unref()
    return {
      key,
      settle: (tx) => deleteReservation(tx, key),
      async [Symbol.asyncDispose]() {
        clearInterval(renewal)
        // Most went with their commit, and a look costs far less than a transaction.
        if (await hasReservation(db, key)) await write((tx) => deleteReservation(tx, key))
      },
    }
  }

  /**
   * Whether the history of an owner takes more than it may, so that new content is refused. The bytes are those of the
   * last count, so they can be exceeded until the next one. Deleting, renaming and cleaning the history still work.
   */
  async #hasFullHistory({ ownerKey }: LibraryInfo): Promise<boolean> {
    const { history } = this.#limits
    return history > 0 && (await historyBytesOf(this.#db, ownerKey)) > history
  }

  async #limitOfOwner(library: LibraryInfo): Promise<number | undefined> {
    const owner = await this.#accounts.findByKey(library.ownerKey)
    return owner && this.limitOf(owner)
  }
}

/** Bytes somebody may still add. Visitors of links get no more than half of what others leave. */
function roomFor(guest: Guest, taken: Taken, limit: number): number {
  const all = limit - taken.stored - taken.reserved - taken.unfinished
  if (guest === MEMBER) return all
  if (guest === OWN) return all + taken.guestReserved + taken.evictable
  const visitors = taken.visitorReserved + taken.visitorUnfinished
  return Math.min(all, (all + visitors) / 2 - visitors)
}

/** Throws quota-exceeded. A limit of 0 is none. */
function refuseBeyond(bytes: number, limit: number): void {
  if (limit > 0 && bytes > limit) fail({ code: 'quota-exceeded', limit })
}

const unlimited: Reservation = {
  key: undefined,
  settle: async () => {},
  [Symbol.asyncDispose]: async () => {},
}
