import { isLoopback } from './body-memory.ts'
import { type BudgetKeys, ByteBudget } from './byte-budget.ts'
import { addressKey } from './client-address.ts'

/** One address, and one account, may hold 1/4 of the budget. */
const SHARES = 4
/** Larger responses are refused if there is no memory for them. Smaller ones are limited by the number of requests. */
const LARGE_BYTES = 64 * 1024

/** The budget of responses in memory that their clients have not taken yet (I9). */
export class ResponseMemory {
  readonly #budget: ByteBudget
  readonly #share: number

  constructor(total: number) {
    this.#share = Math.floor(total / SHARES)
    this.#budget = new ByteBudget({ total, share: this.#share, waitMs: 0 })
  }

  get used(): number {
    return this.#budget.used
  }

  /** Whether a response may be sent to a client. Costs nothing for a small one. */
  mayHold(bytes: number, address: string, account: string | undefined): boolean {
    return bytes <= LARGE_BYTES || this.#budget.fits(keysOf(address, account), bytes)
  }

  /** Whether a client has left so many responses unread that nothing is done for it. Costs nothing unless that is possible. */
  isExhausted(address: string): boolean {
    return this.#budget.used >= this.#share && !this.#budget.fits(keysOf(address, undefined), 1)
  }

  /** Counts a response that was not taken at once. The returned function is to be called when it is, or the client is gone. */
  hold(bytes: number, address: string, account: string | undefined): () => void {
    const keys = keysOf(address, account)
    this.#budget.charge(keys, bytes)
    return () => this.#budget.release(keys, bytes)
  }
}

function keysOf(address: string, account: string | undefined): BudgetKeys {
  const keys = isLoopback(address) ? [] : [`ip ${addressKey(address)}`]
  return account === undefined ? keys : [...keys, `account ${account}`]
}
