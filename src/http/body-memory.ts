import { isIP } from 'node:net'
import { type BudgetKeys, ByteBudget } from './byte-budget.ts'
import { addressKey } from './client-address.ts'
import { detail, type Refusal } from './refusal.ts'

export interface BodyMemoryOptions {
  /** Bytes of buffered bodies of all connections. */
  readonly total: number
  /** How long a body waits for memory before it is refused. */
  readonly waitMs?: number
}

/** The part of the budget that one address, and one account, may hold. */
const SHARES = 4
const WAIT_MS = 10_000
/** Under contention a body must keep up this rate after this time, or it gives up its memory. */
const CONTENDED_GRACE_MS = 10_000
const CONTENDED_BYTES_PER_SECOND = 16 * 1024
const CHECK_MS = 1000

/** The memory of all bodies that are buffered, bounded across connections (I9). */
export class BodyMemory {
  readonly #budget: ByteBudget
  readonly #claims = new Set<BodyClaim>()
  #timer: NodeJS.Timeout | undefined

  constructor({ total, waitMs = WAIT_MS }: BodyMemoryOptions) {
    this.#budget = new ByteBudget({ total, share: Math.floor(total / SHARES), waitMs })
  }

  /** Bytes reserved. */
  get used(): number {
    return this.#budget.used
  }

  /** Requests that wait for memory. */
  get waiting(): number {
    return this.#budget.waiting
  }

  /** The claim of one request; `address` is the client's. Nothing is reserved yet. */
  claim(address: string): BodyClaim {
    return new BodyClaim(this.#budget, isLoopback(address) ? [] : [`ip ${addressKey(address)}`], {
      onHeld: (claim) => this.#claims.add(claim),
      onReleased: (claim) => this.#claims.delete(claim),
      onWaiting: () => this.#watch(),
    })
  }

  /** While requests wait for memory, those that hold some and hardly send anything are ended. */
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

/** A body that is coming in. */
export interface Receiving {
  /** Bytes so far. */
  received(): number
  /** Ends it, because its client is too slow. */
  onExpired(refusal: Refusal): void
}

/** Memory that one request has reserved for its body. */
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

  /** Counts it against the share of an account, too. To be called before anything is reserved. */
  chargeTo(account: string): void {
    if (this.#bytes === 0) this.#keys = [...this.#keys.filter(isAddress), `account ${account}`]
  }

  /** Reserves up to so many bytes in all, if they are free. */
  tryGrowTo(bytes: number): boolean {
    const more = bytes - this.#bytes
    if (more <= 0) return true
    if (!this.#budget.tryTake(this.#keys, more)) return false
    this.#hold(more)
    return true
  }

  /** Reserves up to so many bytes in all; not a promise if they are free. Throws a refusal (503), at once or later. */
  growTo(bytes: number): Promise<void> | undefined {
    if (!this.#budget.canHold(bytes)) throw busy()
    return this.tryGrowTo(bytes) ? undefined : this.#wait(bytes - this.#bytes)
  }

  /** Gives back all but so many bytes. */
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

  /** Called while others wait for memory: a client that is slow gives its own up. */
  expire(now: number): void {
    const receiving = this.#receiving
    const seconds = (now - this.#since - CONTENDED_GRACE_MS) / 1000
    if (receiving === undefined || seconds <= 0) return
    if (receiving.received() < seconds * CONTENDED_BYTES_PER_SECOND) receiving.onExpired(tooSlow())
  }

  async #wait(more: number): Promise<void> {
    this.#events.onWaiting()
    // The wait is not the client's fault.
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

/** What an upload reserves that goes to disk as it comes in: the buffer it is written from. */
export const STREAM_BYTES = 512 * 1024

/** What a body is refused with that its client sends too slowly. */
export function tooSlow(): Refusal {
  return detail(408, 'Request body is too slow.')
}

const RETRY_SECONDS = 5

function busy(): Refusal {
  return detail(503, 'Server is busy. Please try again later.', { 'Retry-After': RETRY_SECONDS })
}

function isAddress(key: string): boolean {
  return key.startsWith('ip ')
}

/** This machine, which may be a proxy for everybody: its bodies are bounded by account and in all. */
export function isLoopback(address: string): boolean {
  return isIP(address) === 4 ? address.startsWith('127.') : address === '::1'
}
