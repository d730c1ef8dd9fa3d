import { detail, type Refusal } from './refusal.ts'

const windowSeconds = 60

interface Window {
  /** Unix seconds. */
  start: number
  /** Calls since `start`. */
  count: number
  /** Calls in the previous window. */
  before: number
}

/**
 * At most `limit` calls a minute per key, with a sliding window: calls of the previous minute count in
 * proportion to the part of it still in the window. Two counters per key. If there are too many keys, the
 * oldest are evicted.
 */
export class RateLimit {
  readonly #limit: number
  readonly #now: () => number
  readonly #maxKeys: number
  readonly #windows = new Map<string, Window>()

  constructor(limit: number, now: () => number, maxKeys = 100_000) {
    this.#limit = limit
    this.#now = now
    this.#maxKeys = maxKeys
  }

  /** Counts one call. Returns 0 if it is allowed, else the seconds to wait. A refused call does not count. */
  take(key: string): number {
    const now = this.#now()
    const window = this.#windowAt(key, now)
    const seconds = this.#waitIn(window, now)
    if (seconds === 0) window.count += 1
    return seconds
  }

  /** The seconds until a call would be allowed, without counting one. Costs nothing while nobody is counted. */
  waitFor(key: string): number {
    if (!this.#windows.has(key)) return 0
    const now = this.#now()
    return this.#waitIn(this.#windowAt(key, now), now)
  }

  #waitIn(window: Window, now: number): number {
    const elapsed = now - window.start
    const inView = window.before * (1 - elapsed / windowSeconds) + window.count
    if (inView + 1 <= this.#limit) return 0
    return Math.max(1, Math.ceil(this.#waitFrom(window, elapsed)))
  }

  get size(): number {
    return this.#windows.size
  }

  #windowAt(key: string, now: number): Window {
    const known = this.#windows.get(key)
    if (known !== undefined && now >= known.start && now < known.start + windowSeconds) return known
    // Re-inserted at the end, so the map stays ordered by start and its first key is the oldest.
    if (known !== undefined) this.#windows.delete(key)
    else if (this.#windows.size >= this.#maxKeys) this.#evictOldest()
    const follows = known !== undefined && now >= known.start && now < known.start + 2 * windowSeconds
    const window: Window = follows
      ? { start: known.start + windowSeconds, count: 0, before: known.count }
      : { start: now, count: 0, before: 0 }
    this.#windows.set(key, window)
    return window
  }

  #evictOldest(): void {
    for (const key of this.#windows.keys()) {
      this.#windows.delete(key)
      return
    }
  }

  /** Seconds until one more call fits: later in this window, or in the next one. */
  #waitFrom({ before, count }: Window, elapsed: number): number {
    const room = this.#limit - 1
    if (count <= room) return (1 - (room - count) / before) * windowSeconds - elapsed
    return windowSeconds - elapsed + (1 - room / count) * windowSeconds
  }
}

export function throttled(seconds: number): Refusal {
  return detail(429, `Request was throttled. Expected available in ${seconds} seconds.`, {
    'Retry-After': seconds,
  })
}
