import { isIP } from 'node:net'
import { detail, type Refusal } from '../responses/index.ts'
import { type BudgetKeys, ByteBudget } from './byte-budget.ts'
import { addressKey } from './client-address.ts'

interface BodyMemoryOptions {
  /** Bytes of buffered bodies of all connections. */
  readonly total: number
  /** Timeout of a body that waits for memory. */
  readonly waitMs?: number
}

/** One address, and one account, may hold 1/4 of the budget. */
const SHARES = 4
const WAIT_MS = 10_000
/** Under contention a body must keep up this rate after this time, or it loses its memory. */
const CONTENDED_GRACE_MS = 10_000
const CONTENDED_BYTES_PER_SECOND = 16 * 1024
const CHECK_MS = 1000

/** The budget of all buffered bodies across connections (I9). */
export class BodyMemory {
  readonly #budget: ByteBudget
  readonly #claims = new Set<BodyClaim>()
  #timer: NodeJS.Timeout | undefined

  constructor({ total, waitMs = WAIT_MS }: BodyMemoryOptions) {
    this.#budget = new ByteBudget({ total, share: Math.floor(total / SHARES), waitMs })
  }

  /** Reserved bytes. */
  get used(): number {
    return this.#budget.used
  }

  /** Number of requests that wait for memory. */
  get waiting(): number {
    return this.#budget.waiting
  }

  /** The claim of one request; `address` is the client's. Reserves nothing yet. */
  claim(address: string): BodyClaim {
    return new BodyClaim(this.#budget, isLoopback(address) ? [] : [`ip ${addressKey(address)}`], {
      onHeld: (claim) => this.#claims.add(claim),
      onReleased: (claim) => this.#claims.delete(claim),
      onWaiting: () => this.#watch(),
    })
  }

  /** While requests wait for memory, slow requests that hold memory are aborted. */
  #watch(): void {
    this.#timer ??= setInterval(() => {
      if (this.#budget.waiting === 0) {
        clearInterval(this.#timer)
        this.#timer = undefined
      } else for (const claim of this.#claims) claim.expire(performance.now())
    }, CHECK_MS).unref()
  }
}

interface ClaimEvents {
  readonly onHeld: (claim: BodyClaim) => void
  readonly onReleased: (claim: BodyClaim) => void
  readonly onWaiting: () => void
}

/** A body being received. */
interface Receiving {
  /** Bytes received so far. */
  received(): number
  /** Aborts it, because its client is too slow. */
  onExpired(refusal: Refusal): void
}

/** The memory that one request has reserved for its body. */
export class BodyClaim {
  readonly #budget: ByteBudget
  readonly #events: ClaimEvents
  #keys: BudgetKeys
  #bytes = 0
  #since = 0
  #receiving: Receiving | undefined

  constructor(budget: ByteBudget, keys: BudgetKeys, events: ClaimEvents) {
    this.#budget = budget
    this.#keys = keys
    this.#events = events
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Also charges an account. Call it before anything is reserved. */
  chargeTo(account: string): void {
    if (this.#bytes === 0) this.#keys = [...this.#keys.filter(isAddress), `account ${account}`]
  }

  /** Grows the reservation to `bytes` in total, if they are available. */
  tryGrowTo(bytes: number): boolean {
    const more = bytes - this.#bytes
    if (more <= 0) return true
    if (!this.#budget.tryTake(this.#keys, more)) return false
    this.#hold(more)
    return true
  }

  /**
   * Grows the reservation to `bytes` in total; not a promise if they are available. Throws a refusal (503),
   * at once or later.
   */
  growTo(bytes: number): Promise<void> | undefined {
    if (!this.#budget.canHold(bytes)) throw busy()
    return this.tryGrowTo(bytes) ? undefined : this.#wait(bytes - this.#bytes)
  }

  /** Shrinks the reservation to `bytes`. */
  shrinkTo(bytes: number): void {
    const less = this.#bytes - bytes
    if (less <= 0) return
    this.#bytes -= less
    if (this.#bytes === 0) this.#events.onReleased(this)
    this.#budget.release(this.#keys, less)
  }

  release(): void {
    this.shrinkTo(0)
  }

  /** Sets the body that is being received; undefined once it is complete. */
  receiving(receiving: Receiving | undefined): void {
    this.#receiving = receiving
  }

  /** Called while other requests wait for memory: aborts a slow client. */
  expire(now: number): void {
    const receiving = this.#receiving
    const seconds = (now - this.#since - CONTENDED_GRACE_MS) / 1000
    if (receiving === undefined || seconds <= 0) return
    if (receiving.received() < seconds * CONTENDED_BYTES_PER_SECOND) receiving.onExpired(tooSlow())
  }

  async #wait(more: number): Promise<void> {
    this.#events.onWaiting()
    // Time spent waiting for memory is not counted as slowness of the client.
    const receiving = this.#receiving
    this.#receiving = undefined
    const granted = await this.#budget.take(this.#keys, more)
    this.#receiving = receiving
    if (!granted) throw busy()
    this.#hold(more)
  }

  #hold(more: number): void {
    if (this.#bytes === 0) {
      this.#since = performance.now()
      this.#events.onHeld(this)
    }
    this.#bytes += more
  }
}

/** Reservation of an upload that is streamed to disk: its write buffer. */
export const STREAM_BYTES = 512 * 1024

/** The refusal for a body that arrives too slowly. */
export function tooSlow(): Refusal {
  return detail(408, 'Request body is too slow.')
}

const RETRY_SECONDS = 5

/** The refusal for want of memory. */
export function busy(): Refusal {
  return detail(503, 'Server is busy. Please try again later.', { 'Retry-After': RETRY_SECONDS })
}

function isAddress(key: string): boolean {
  return key.startsWith('ip ')
}

/** A local proxy may forward all clients, so loopback addresses have no share of their own. */
export function isLoopback(address: string): boolean {
  return isIP(address) === 4 ? address.startsWith('127.') : address === '::1'
}
