import { fail } from '../../base/errors.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Library } from '../library/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { type UncommittedBytes, uncommittedBlocksOf, uncommittedObjectsOf } from './uncommitted-store.ts'

// How long a count is cached. Bytes stored by other processes are seen after that.
const COUNT_CACHE_MS = 10_000
const MAX_CACHED = 10_000

/** Blocks are content. Objects and commits are metadata, which is needed even to delete content. */
type UncommittedKind = 'blocks' | 'objects'

/** Maximum of uncommitted bytes of one kind in the libraries of an owner; undefined for no limit. */
export type UncommittedAllowance = (
  library: LibraryInfo,
  kind: UncommittedKind,
) => Promise<number | undefined>

const countOf = { blocks: uncommittedBlocksOf, objects: uncommittedObjectsOf }

/** Cached count of uncommitted bytes of one kind in the libraries of one owner. */
class Owner {
  #counted: UncommittedBytes = { all: 0, guests: 0 }
  #countedAt = Number.NEGATIVE_INFINITY
  /** Total bytes stored by this process, now and when the last count began. Not a difference, because counts may overlap. */
  readonly #stored = { all: 0, guests: 0 }
  #storedBeforeCount = { all: 0, guests: 0 }
  /** Bytes being stored. */
  readonly #inFlight = { all: 0, guests: 0 }

  get isOld(): boolean {
    return performance.now() - this.#countedAt > COUNT_CACHE_MS
  }

  get isIdle(): boolean {
    return this.#inFlight.all === 0
  }

  async count(counting: () => Promise<UncommittedBytes>): Promise<void> {
    const before = { ...this.#stored }
    this.#counted = await counting()
    this.#countedAt = performance.now()
    this.#storedBeforeCount = before
  }

  /**
   * Undefined if the limit is reached. Otherwise dispose of the result when the bytes are stored or
   * abandoned.
   */
  take(bytes: number, isGuest: boolean, limit: number): Disposable | undefined {
    const total = (of: keyof UncommittedBytes) =>
      this.#counted[of] + this.#stored[of] - this.#storedBeforeCount[of] + this.#inFlight[of] + bytes
    if (total('all') > limit || (isGuest && total('guests') > limit / 2)) return undefined
    const add = (to: { all: number; guests: number }, amount: number) => {
      to.all += amount
      if (isGuest) to.guests += amount
    }
    add(this.#inFlight, bytes)
    return {
      [Symbol.dispose]: () => {
        add(this.#inFlight, -bytes)
        add(this.#stored, bytes)
      },
    }
  }
}

/**
 * Limits the bytes that clients send before a commit: blocks, objects and commits that may never be pushed.
 * They are charged to the owner of the library; guests get at most half. The count comes from the database
 * and is updated in memory. Nothing is rejected before it was counted again.
 */
export class Uncommitted {
  readonly #db: Database
  readonly #owners = new Map<string, Owner>()
  readonly #allowance: UncommittedAllowance

  constructor(db: Database, allowance: UncommittedAllowance = async () => undefined) {
    this.#db = db
    this.#allowance = allowance
  }

  /** Call it before bytes are stored, and dispose of the result afterwards. Throws quota-exceeded. */
  async take(
    library: Pick<Library, 'info' | 'actor'>,
    kind: UncommittedKind,
    bytes: number,
  ): Promise<Disposable> {
    const { ownerKey } = library.info
    const limit = await this.#allowance(library.info, kind)
    if (limit === undefined) return unlimited
    const owner = this.#ownerOf(`${ownerKey} ${kind}`)
    const isGuest = isGuestIn(library)
    const taken = owner.isOld ? undefined : owner.take(bytes, isGuest, limit)
    if (taken !== undefined) return taken
    await owner.count(() => countOf[kind](this.#db, ownerKey))
    return owner.take(bytes, isGuest, limit) ?? fail({ code: 'quota-exceeded', limit })
  }

  #ownerOf(key: string): Owner {
    const known = this.#owners.get(key)
    if (known !== undefined) return known
    if (this.#owners.size >= MAX_CACHED) {
      for (const [other, owner] of this.#owners) if (owner.isIdle) this.#owners.delete(other)
    }
    const owner = new Owner()
    this.#owners.set(key, owner)
    return owner
  }
}

const unlimited: Disposable = { [Symbol.dispose]: () => {} }

/** Whether the actor is not the owner. */
export function isGuestIn({ info, actor }: Pick<Library, 'info' | 'actor'>): boolean {
  return actor.key !== info.ownerKey
}
