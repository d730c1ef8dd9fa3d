import { createHmac, randomBytes } from 'node:crypto'

/** The time for which a failed attempt counts. */
export const WINDOW_SECONDS = 300
const mostPerAddress = 10
const mostPerName = 100
const mostNames = 20_000

/**
 * Limits password guessing: at most 10 failed attempts in five minutes per login name and address, and 100
 * per login name from all addresses. Memory is bounded; the least recently tried names are evicted.
 */
export class LoginThrottle {
  readonly #now: () => number
  // A name may be a password typed into the wrong field, so only keyed hashes are stored.
  readonly #key = randomBytes(32)
  // Times of failed attempts, oldest first, by hashed login name and then by address.
  readonly #tries = new Map<string, Map<string, number[]>>()

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Counts an attempt as failed before it is made, so that concurrent attempts cannot all pass. Returns the
   * seconds to wait if there were too many; that attempt is then not counted.
   */
  begin(name: string, address: string): number | undefined {
    const key = this.#keyOf(name)
    const now = this.#now()
    const byAddress = recentAttempts(this.#tries.get(key) ?? new Map(), now)
    const wait = countAttempt(byAddress, address, now)
    if (wait === undefined) this.#keep(key, byAddress)
    return wait
  }

  /** An attempt succeeded: resets the failures of this address. */
  succeed(name: string, address: string): void {
    const key = this.#keyOf(name)
    const byAddress = this.#tries.get(key)
    byAddress?.delete(address)
    if (byAddress?.size === 0) this.#tries.delete(key)
  }

  /** Removes the last attempt, because its password was not checked. */
  cancel(name: string, address: string): void {
    const key = this.#keyOf(name)
    const byAddress = this.#tries.get(key)
    const times = byAddress?.get(address)
    times?.pop()
    if (times?.length === 0) byAddress?.delete(address)
    if (byAddress?.size === 0) this.#tries.delete(key)
  }

  /** Number of stored login names. */
  get size(): number {
    return this.#tries.size
  }

  #keyOf(name: string): string {
    return createHmac('sha256', this.#key).update(name.trim().toLowerCase()).digest('base64')
  }

  #keep(key: string, byAddress: Map<string, number[]>): void {
    this.#tries.delete(key)
    this.#tries.set(key, byAddress)
    if (this.#tries.size <= mostNames) return
    const oldest = this.#tries.keys().next()
    if (!oldest.done) this.#tries.delete(oldest.value)
  }
}

/** The attempts of one name, by address, that still count. */
export function recentAttempts(
  byAddress: ReadonlyMap<string, readonly number[]>,
  now: number,
): Map<string, number[]> {
  const recent = new Map<string, number[]>()
  for (const [address, times] of byAddress) {
    const left = times.filter((time) => time > now - WINDOW_SECONDS)
    if (left.length > 0) recent.set(address, left)
  }
  return recent
}

/** Adds an attempt to those of one name. Returns the seconds to wait instead if there were too many. */
export function countAttempt(
  byAddress: Map<string, number[]>,
  address: string,
  now: number,
): number | undefined {
  const here = byAddress.get(address) ?? []
  const everywhere = [...byAddress.values()].flat()
  const wait = Math.max(
    waitFor(here, mostPerAddress, now),
    waitFor(everywhere.sort(ascending), mostPerName, now),
  )
  if (wait > 0) return wait
  byAddress.set(address, [...here, now])
  return undefined
}

/** Seconds until fewer than `most` of the times are in the window. */
function waitFor(times: readonly number[], most: number, now: number): number {
  const last = times.at(-most)
  return last === undefined ? 0 : Math.max(1, Math.ceil(last + WINDOW_SECONDS - now))
}

function ascending(a: number, b: number): number {
  return a - b
}
