/** Garbage collection has freed what a task left behind by then, with the default grace period. */
const KEPT_SECONDS = 2 * 86_400

interface Abandoned {
  readonly bytes: number
  /** Unix seconds. */
  readonly at: number
}

/**
 * Bytes that failed and canceled tasks have stored, by account. No quota counts them, and they stay on the disk until garbage
 * collection frees them. In memory only: failed tasks are rare, and users cannot restart the server to reset the count.
 */
export class AbandonedBytes {
  readonly #now: () => number
  readonly #byAccount = new Map<number, Abandoned[]>()

  /** `now` in Unix seconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  add(account: number, bytes: number): void {
    if (bytes === 0) return
    this.#byAccount.set(account, [...this.#recent(account), { bytes, at: this.#now() }])
  }

  of(account: number): number {
    return this.#recent(account).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  #recent(account: number): Abandoned[] {
    const since = this.#now() - KEPT_SECONDS
    return (this.#byAccount.get(account) ?? []).filter(({ at }) => at > since)
  }
}
