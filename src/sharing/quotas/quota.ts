import { type Fault, fail } from '../../base/errors.ts'
import type { GrowthGuard } from '../../libraries/commits/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { librarySizes } from '../../libraries/registry/index.ts'
import { historyBytesOf } from '../../libraries/usage/index.ts'
import { type Account, type Accounts, accountRows } from '../../people/accounts/index.ts'
import type { Database, Reader, Transaction } from '../../platform/database/index.ts'
import {
  countUnfinished,
  deleteExpiredPartials,
  deleteReservation,
  deleteReservationsBefore,
  evictPartial,
  findOwnerQuota,
  type Guest,
  hasReservation,
  insertReservation,
  listAccountsByUsage,
  listEvictable,
  listGuestReservations,
  MEMBER,
  type NotCounted,
  OWN,
  prolongReservation,
  quotaOf,
  setReservation,
  type Taken,
  takenBy,
  type UploadSource,
  VISITOR,
} from './quota-store.ts'

export type { Guest, UploadSource } from './quota-store.ts'

// A reservation expires after this time unless its process renews it.
const RESERVATION_SECONDS = 600
const RENEWAL_MS = (RESERVATION_SECONDS * 1000) / 3
/** Allowance for uncommitted objects and commits of an owner, even if the quota is smaller. */
const MIN_FOR_OBJECTS = 100_000_000
/** Maximum number of unfinished uploads per account, and per link. */
const MAX_UPLOADS = 1000
const MAX_UPLOADS_OF_LINK = 100

/**
 * Files and folders of an owner with a quota: a number, and one for so many bytes of the quota. Each takes about 900 bytes of the database with its rows in indexes and feeds, also
 * an empty one, so that they take no more than the quota once again.
 */
const MIN_ENTRIES = 10_000
const BYTES_PER_ENTRY = 1000
/** Bytes reserved at a time for an upload of unknown length. */
const STEP_BYTES = 8_000_000
/** Garbage collection frees the blocks of a refused upload in about this time. */
const LEFT_SECONDS = 3 * 3600

/** Bytes reserved for a running upload. Disposing of it releases what was not settled. */
export interface Reservation extends AsyncDisposable {
  /** Undefined if there is no limit. */
  readonly key: number | undefined
  /**
   * Reserves more, for an upload of unknown length, if fewer than `bytes` are reserved. A step at a time, so that most pieces cost nothing. A promise if there is
   * something to wait for. Throws quota-exceeded, disk-full.
   */
  growTo(bytes: number): Promise<void> | undefined
  /**
   * Says at the end that the upload was refused after this many of its bytes got names. They stay reserved until garbage collection has freed them, so that
   * refused uploads cannot add up to more than the quota.
   */
  leave(bytes: number): void
  /** Releases the reservation in the transaction of the commit that turns it into usage. */
  settle(tx: Transaction): Promise<void>
}

interface ReserveOptions extends Pick<NotCounted, 'restarted'> {
  readonly guest?: Guest
  /** For an upload of unknown length. */
  readonly inSteps?: boolean
}

/** What a chunk adds to unfinished uploads. */
interface AddedUnfinished {
  /** That of the request, which is for the same bytes. */
  readonly reservation: number | undefined
  readonly bytes: number
  /** 1 for the first chunk of an upload. */
  readonly uploads: number
}

/** For whom bytes are reserved. */
interface Reserving {
  readonly ownerKey: number
  readonly guest: Guest
  /** Bytes. */
  readonly limit: number
}

/** In bytes; 0 for no limit. */
export interface QuotaLimits {
  /** Quota of accounts that have none of their own. */
  readonly serverDefault: number
  /** Unfinished uploads in the libraries of one owner, in total and through links. */
  readonly unfinished: number
  readonly linkUnfinished: number
  /** Older revisions and deleted files in the libraries of one owner. */
  readonly history: number
}

interface QuotasOptions {
  readonly db: Database
  readonly accounts: Accounts
  /** Unix seconds. */
  readonly now: () => number
  readonly limits: QuotaLimits
  /** The fault while the disk has space only for what frees some. */
  readonly diskFault?: () => Fault | undefined
}

/** Who an upload into a library comes from. */
export function guestOf({ info, actor }: Library, isOfLink = false): Guest {
  if (isOfLink) return VISITOR
  return info.ownerKey === actor.key ? OWN : MEMBER
}

/**
 * Quotas of library owners. Bytes are charged to the owner, whoever adds them. Reservations and unfinished
 * uploads of guests never block the owner: the owner's uploads evict them.
 */
export class Quotas {
  readonly #db: Database
  readonly #accounts: Accounts
  readonly #now: () => number
  readonly #limits: QuotaLimits
  readonly #diskFault: () => Fault | undefined

  constructor({ db, accounts, now, limits, diskFault = () => undefined }: QuotasOptions) {
    this.#diskFault = diskFault
    this.#db = db
    this.#accounts = accounts
    this.#now = now
    this.#limits = limits
  }

  /** Bytes the account may store; undefined for no limit. */
  limitOf(account: Pick<Account, 'quota'>): number | undefined {
    const limit = account.quota > 0 ? account.quota : this.#limits.serverDefault
    return limit > 0 ? limit : undefined
  }

  usageOf(account: Account): Promise<number> {
    return librarySizes.bytesOf(this.#db, account.key)
  }

  /** Used bytes by account key. Accounts without libraries are omitted. */
  usageOfMany(accounts: readonly Account[]): Promise<Map<number, number>> {
    return librarySizes.bytesOfMany(
      this.#db,
      accounts.map((account) => account.key),
    )
  }

  /** As `list` of the accounts, in the order of the bytes that they use. */
  async listByUsage(query: Omit<Parameters<Accounts['list']>[0], 'orderBy'>) {
    return { accounts: await listAccountsByUsage(this.#db, query), total: await this.#accounts.count(query) }
  }

  /** Bytes that the owner of a library, or a guest, may still add; undefined for no limit. */
  async roomLeft(
    library: Pick<LibraryInfo, 'ownerKey'>,
    guest: Guest = OWN,
  ): Promise<{ left: number; limit: number } | undefined> {
    if (await this.#hasFullHistory(library)) return { left: 0, limit: this.#limits.history }
    const limit = await this.#limitOfOwner(library)
    if (limit === undefined) return undefined
    const taken = await takenBy(this.#db, library.ownerKey, this.#now())
    return { left: roomFor(guest, taken, limit), limit }
  }

  /** Throws quota-exceeded if no bytes are left. */
  async refuseIfFull(library: LibraryInfo, guest: Guest = OWN): Promise<void> {
    const room = await this.roomLeft(library, guest)
    if (room !== undefined && room.left <= 0) fail({ code: 'quota-exceeded', limit: room.limit })
  }

  /**
   * Reserves bytes, so that concurrent uploads cannot exceed the quota together. Throws quota-exceeded when
   * usage, reservations and these bytes would reach it, and disk-full. The owner's bytes evict those reserved by guests. With `inSteps` more is reserved
   * ahead, if there is room, and `growTo` reserves the rest.
   */
  async reserve(
    library: LibraryInfo,
    bytes: number,
    { guest = OWN, restarted, inSteps = false }: ReserveOptions = {},
  ): Promise<Reservation> {
    if (bytes > 0) this.#refuseIfDiskFull()
    if (await this.#hasFullHistory(library)) fail({ code: 'quota-exceeded', limit: this.#limits.history })
    const limit = await this.#limitOfOwner(library)
    if (limit === undefined) return unlimited
    const { ownerKey } = library
    const who = { ownerKey, guest, limit }
    const [key, reserved] = await this.#db.write(
      async (tx) => {
        const granted = await this.#grant(tx, who, bytes, inSteps, restarted && { restarted })
        const expiresAt = this.#now() + RESERVATION_SECONDS
        return [await insertReservation(tx, ownerKey, { bytes: granted, guest, expiresAt }), granted] as const
      },
      { durable: false },
    )
    return this.#hold(key, reserved, who)
  }

  /** The bytes to reserve for an upload: those asked for, and a step more if there is room for it. Throws quota-exceeded. */
  async #grant(
    tx: Transaction,
    { ownerKey, guest, limit }: Reserving,
    bytes: number,
    inSteps: boolean,
    notCounted?: NotCounted,
  ): Promise<number> {
    await accountRows.lock(tx, this.#db.dialect, ownerKey)
    const taken = await takenBy(tx, ownerKey, this.#now(), notCounted)
    const room = roomFor(guest, taken, limit)
    if (bytes >= room) fail({ code: 'quota-exceeded', limit })
    // Nothing of a guest is evicted for bytes that may never come.
    const free = roomFor(MEMBER, taken, limit)
    if (guest === OWN) await this.#makeRoom(tx, ownerKey, bytes - free + 1)
    return inSteps ? Math.max(bytes, Math.min(bytes + STEP_BYTES, free - 1, room - 1)) : bytes
  }

  /**
   * Checks an unfinished upload in the transaction that records its received bytes. `reservation` is that of
   * the request for the same bytes. Throws quota-exceeded, too-many-uploads.
   */
  async checkUnfinished(
    tx: Transaction,
    source: UploadSource,
    guest: Guest,
    reservation: number | undefined,
  ): Promise<void> {
    const owner = await findOwnerQuota(tx, source.libraryKey)
    if (owner === undefined) return
    await accountRows.lock(tx, this.#db.dialect, owner.ownerKey)
    await deleteExpiredPartials(tx, this.#now(), owner.ownerKey)
    await this.#judgeUnfinished(tx, owner, source, guest, { reservation, bytes: 0, uploads: 0 })
  }

  /** As checkUnfinished, before the blocks of a chunk get names: `bytes` and `uploads` are about to be added. */
  async refuseUnfinished(source: UploadSource, guest: Guest, adding: AddedUnfinished): Promise<void> {
    const owner = await findOwnerQuota(this.#db, source.libraryKey)
    if (owner !== undefined) await this.#judgeUnfinished(this.#db, owner, source, guest, adding)
  }

  async #judgeUnfinished(
    reader: Reader,
    owner: { readonly ownerKey: number; readonly quota: number },
    source: UploadSource,
    guest: Guest,
    { reservation, bytes, uploads }: AddedUnfinished,
  ): Promise<void> {
    const most = guest === VISITOR ? MAX_UPLOADS_OF_LINK : MAX_UPLOADS
    const count = await countUnfinished(reader, source)
    if (count + uploads > most) fail({ code: 'too-many-uploads', limit: most })
    const taken = await takenBy(reader, owner.ownerKey, this.#now(), { reservation })
    const limit = this.limitOf(owner)
    if (limit !== undefined && roomFor(guest, taken, limit) <= bytes) fail({ code: 'quota-exceeded', limit })
    const { unfinished, linkUnfinished } = this.#limits
    refuseBeyond(taken.unfinished + bytes, unfinished)
    if (guest === VISITOR) refuseBeyond(taken.visitorUnfinished + bytes, linkUnfinished)
  }

  /**
   * Maximum of uncommitted bytes in the libraries of an owner, for blocks, or for objects and commits. It
   * equals the quota, because a push sends a whole tree before its commit. For objects it has a minimum, so
   * that deleting always works.
   */
  async uncommittedAllowance(library: LibraryInfo, kind: 'blocks' | 'objects'): Promise<number | undefined> {
    if (kind === 'blocks') this.#refuseIfDiskFull()
    const quota = await this.#limitOfOwner(library)
    const limit = quota !== undefined && kind === 'objects' ? Math.max(quota, MIN_FOR_OBJECTS) : quota
    const { unfinished } = this.#limits
    if (unfinished === 0) return limit
    return Math.min(limit ?? unfinished, unfinished)
  }

  /** Checks every commit that adds bytes or entries, from any surface. Earlier checks are subject to races. */
  get growthGuard(): GrowthGuard {
    return {
      limitedOwner: async (tx, libraryKey) => {
        const owner = await findOwnerQuota(tx, libraryKey)
        const limit = owner && this.limitOf(owner)
        return limit === undefined ? undefined : { ownerKey: owner?.ownerKey ?? 0, limit }
      },
      quotaOf,
      limitOf: (quota) => this.limitOf({ quota }),
      check: async (tx, { ownerKey, limit }, { bytes, entries }) => {
        await accountRows.lock(tx, this.#db.dialect, ownerKey)
        if (entries && (await librarySizes.entriesOf(tx, ownerKey)) > MIN_ENTRIES + limit / BYTES_PER_ENTRY) {
          fail({ code: 'quota-exceeded', limit })
        }
        if (!bytes) return
        const taken = await takenBy(tx, ownerKey, this.#now())
        if (roomFor(OWN, taken, limit) <= 0) fail({ code: 'quota-exceeded', limit })
      },
    }
  }

  /** Deletes expired reservations, at the start and as maintenance. */
  deleteExpired(): Promise<number> {
    return this.#db.write((tx) => deleteReservationsBefore(tx, this.#now()), { durable: false })
  }

  /** Maintenance: deletes idle unfinished uploads. */
  async deleteExpiredUploads(): Promise<void> {
    await this.#db.write((tx) => deleteExpiredPartials(tx, this.#now()))
  }

  /** Evicts unfinished uploads, then reservations of guests, until `bytes` are free. */
  async #makeRoom(tx: Transaction, ownerKey: number, bytes: number): Promise<void> {
    let missing = bytes
    if (missing <= 0) return
    for (const { key, received } of await listEvictable(tx, ownerKey, this.#now())) {
      if (missing <= 0) break
      await evictPartial(tx, key)
      missing -= received
    }
    if (missing <= 0) return
    for (const { key, bytes: reserved } of await listGuestReservations(tx, ownerKey)) {
      if (missing <= 0) break
      // Safe, because the guest's commit is checked again.
      await deleteReservation(tx, key)
      missing -= reserved
    }
  }

  #refuseIfDiskFull(): void {
    const fault = this.#diskFault()
    if (fault !== undefined) fail(fault)
  }

  #hold(key: number, bytes: number, who: Reserving): Reservation {
    const db = this.#db
    const write = (work: (tx: Transaction) => Promise<void>) => this.#db.write(work, { durable: false })
    let reserved = bytes
    let left = 0
    const grow = (wanted: number) => {
      this.#refuseIfDiskFull()
      return write(async (tx) => {
        const granted = await this.#grant(tx, who, wanted, true, { reservation: key })
        const expiresAt = this.#now() + RESERVATION_SECONDS
        // An owner's upload has evicted it.
        if (!(await setReservation(tx, key, { bytes: granted, expiresAt }))) {
          fail({ code: 'quota-exceeded', limit: who.limit })
        }
        reserved = granted
      })
    }
    const end = (tx: Transaction) =>
      left === 0
        ? deleteReservation(tx, key)
        : setReservation(tx, key, { bytes: left, expiresAt: this.#now() + LEFT_SECONDS })
    const renewal = setInterval(() => {
      // A failed renewal is repeated well before the reservation expires.
      write((tx) => prolongReservation(tx, key, this.#now() + RESERVATION_SECONDS)).catch(() => {})
    }, RENEWAL_MS).unref()
    return {
      key,
      growTo: (wanted) => (wanted <= reserved ? undefined : grow(wanted)),
      leave(bytesLeft) {
        left = bytesLeft
      },
      settle: (tx) => deleteReservation(tx, key),
      async [Symbol.asyncDispose]() {
        clearInterval(renewal)
        // Most were deleted with their commit, and a read costs far less than a transaction.
        if (await hasReservation(db, key)) await write(async (tx) => void (await end(tx)))
      },
    }
  }

  /**
   * Whether the history of an owner exceeds its limit, so that new content is rejected. The bytes are those
   * of the last count, so they may exceed the limit until the next one. Deleting, renaming and purging the
   * history still work.
   */
  async #hasFullHistory({ ownerKey }: Pick<LibraryInfo, 'ownerKey'>): Promise<boolean> {
    const { history } = this.#limits
    return history > 0 && (await historyBytesOf(this.#db, ownerKey)) > history
  }

  async #limitOfOwner(library: Pick<LibraryInfo, 'ownerKey'>): Promise<number | undefined> {
    const owner = await this.#accounts.findByKey(library.ownerKey)
    return owner && this.limitOf(owner)
  }
}

/** Bytes that may still be added. Visitors of links get at most half of the remainder. */
function roomFor(guest: Guest, taken: Taken, limit: number): number {
  const all = limit - taken.stored - taken.reserved - taken.unfinished
  if (guest === MEMBER) return all
  if (guest === OWN) return all + taken.guestReserved + taken.evictable
  const visitors = taken.visitorReserved + taken.visitorUnfinished
  return Math.min(all, (all + visitors) / 2 - visitors)
}

/** Throws quota-exceeded. A limit of 0 means unlimited. */
function refuseBeyond(bytes: number, limit: number): void {
  if (limit > 0 && bytes > limit) fail({ code: 'quota-exceeded', limit })
}

const unlimited: Reservation = {
  key: undefined,
  growTo: () => undefined,
  leave: () => {},
  settle: async () => {},
  [Symbol.asyncDispose]: async () => {},
}
