const WINDOW_MS = 6000
const STEP_MS = 200

/** How fast something goes, over the last few seconds. Times are in milliseconds. */
export class RateMeter {
  #samples: { at: number; amount: number }[] = []
  #since: number | undefined

  add(now: number, amount: number): void {
    this.#since ??= now
    const last = this.#samples.at(-1)
    if (last !== undefined && now - last.at < STEP_MS) last.amount += amount
    else this.#samples.push({ at: now, amount })
    this.#forget(now)
  }

  /** A second; 0 while nothing is known. */
  perSecond(now: number): number {
    this.#forget(now)
    if (this.#since === undefined) return 0
    const sum = this.#samples.reduce((all, { amount }) => all + amount, 0)
    const seconds = Math.min(WINDOW_MS, Math.max(500, now - this.#since)) / 1000
    return Math.max(0, sum / seconds)
  }

  /** After a pause: what came before says nothing of what comes. */
  reset(): void {
    this.#samples = []
    this.#since = undefined
  }

  #forget(now: number): void {
    const first = this.#samples.findIndex(({ at }) => now - at < WINDOW_MS)
    if (first !== 0) this.#samples = first < 0 ? [] : this.#samples.slice(first)
  }
}

/** Seconds until the rest is done; undefined when nobody can tell. */
export function secondsLeft(rest: number, perSecond: number): number | undefined {
  if (rest <= 0) return 0
  const seconds = perSecond > 0 ? rest / perSecond : Number.POSITIVE_INFINITY
  return seconds < 100 * 3600 ? seconds : undefined
}
