import { detail, type Refusal } from '../responses/index.ts'

const windowSeconds = 60
/** From this part of the limit on, a key is hot: its calls are told to other processes. */
const HOT_PART = 1 / 8

interface Window {
  /** Unix seconds. */
  start: number
  /** Calls since `start`. */
  count: number
  /** Calls in the previous window. */
  before: number
  /** Calls of the last minute at other processes, as of `othersAt`. */
  others: number
  othersAt: number
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
  readonly #onHot: ((key: string) => void) | undefined
  readonly #hotCount: number

  /** `onHot` is called when a key has used a part of its limit in one minute. */
  constructor(
    limit: number,
    now: () => number,
    { maxKeys = 100_000, onHot }: { maxKeys?: number; onHot?: ((key: string) => void) | undefined } = {},
  ) {
    this.#limit = limit
    this.#now = now
    this.#maxKeys = maxKeys
    this.#onHot = onHot
    this.#hotCount = Math.ceil(limit * HOT_PART)
  }

  /** Counts one call. Returns 0 if it is allowed, else the seconds to wait. A refused call does not count. */
  take(key: string): number {
    const now = this.#now()
    const window = this.#windowAt(key, now)
    const seconds = this.#waitIn(window, now)
    if (seconds > 0) return seconds
    window.count += 1
    if (window.count === this.#hotCount) this.#onHot?.(key)
    return 0
  }

  /** The seconds until a call would be allowed, without counting one. Costs nothing while nobody is counted. */
  waitFor(key: string): number {
    if (!this.#windows.has(key)) return 0
    const now = this.#now()
    return this.#waitIn(this.#windowAt(key, now), now)
  }

  /** Calls of a hot key in the last minute; undefined if it is hot no more. */
  hotCalls(key: string): number | undefined {
    const now = this.#now()
    const window = this.#windows.get(key)
    if (window === undefined || now >= window.start + 2 * windowSeconds) return undefined
    const calls = inView(this.#windowAt(key, now), now)
    return calls < this.#hotCount ? undefined : Math.round(calls)
  }

  /** Sets the calls of a key at all other processes in the last minute. */
  setOthers(key: string, calls: number): void {
    const now = this.#now()
    const window = this.#windowAt(key, now)
    window.others = calls
    window.othersAt = now
  }

  get size(): number {
    return this.#windows.size
  }

  #waitIn(window: Window, now: number): number {
    const own = inView(window, now)
    const others = window.others === 0 ? 0 : othersInView(window, now)
    if (own + others + 1 <= this.#limit) return 0
    if (others === 0) return Math.max(1, Math.ceil(this.#waitFrom(window, now - window.start)))
    // All of them leave the window within a minute, at about the same rate.
    return Math.max(1, Math.ceil((windowSeconds * (own + others + 1 - this.#limit)) / (own + others)))
  }

  #windowAt(key: string, now: number): Window {
    const known = this.#windows.get(key)
    if (known !== undefined && now >= known.start && now < known.start + windowSeconds) return known
    // Re-inserted at the end, so the map stays ordered by start and its first key is the oldest.
    if (known !== undefined) this.#windows.delete(key)
    else if (this.#windows.size >= this.#maxKeys) this.#evictOldest()
    const follows = known !== undefined && now >= known.start && now < known.start + 2 * windowSeconds
    const window: Window = follows
      ? { ...known, start: known.start + windowSeconds, count: 0, before: known.count }
      : { start: now, count: 0, before: 0, others: 0, othersAt: 0 }
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

function inView({ before, count, start }: Window, now: number): number {
  return before * (1 - (now - start) / windowSeconds) + count
}

function othersInView({ others, othersAt }: Window, now: number): number {
  return others * Math.min(1, Math.max(0, 1 - (now - othersAt) / windowSeconds))
}

export function throttled(seconds: number): Refusal {
  return detail(429, `Request was throttled. Expected available in ${seconds} seconds.`, {
    'Retry-After': seconds,
  })
}
