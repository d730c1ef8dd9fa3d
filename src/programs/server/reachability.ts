import { setTimeout as wait } from 'node:timers/promises'

/** A result is used again for this long. */
const FRESH_MS = 5000
/** A check that takes longer than this counts as failed until it ends. */
const PATIENCE_MS = 900

/** Whether another service can be reached, for `/readyz`, which is answered within a second whatever hangs. */
export class Reachability {
  readonly #reach: () => Promise<void>
  #checking: Promise<boolean> | undefined
  #last = { isReachable: false, atMs: Number.NEGATIVE_INFINITY }

  constructor(reach: () => Promise<void>) {
    this.#reach = reach
  }

  async check(): Promise<boolean> {
    if (performance.now() - this.#last.atMs < FRESH_MS) return this.#last.isReachable
    this.#checking ??= this.#checkNow().finally(() => (this.#checking = undefined))
    return Promise.race([this.#checking, wait(PATIENCE_MS, false, { ref: false })])
  }

  async #checkNow(): Promise<boolean> {
    const isReachable = await this.#reach().then(
      () => true,
      () => false,
    )
    this.#last = { isReachable, atMs: performance.now() }
    return isReachable
  }
}
