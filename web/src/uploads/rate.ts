const WINDOW_MS = 6000
const STEP_MS = 200

/** Moving average of a rate over the last 6 s. Times are in milliseconds. */
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

  /** Amount per second; 0 without samples. */
  perSecond(now: number): number {
    this.#forget(now)
    if (this.#since === undefined) return 0
    const sum = this.#samples.reduce((all, { amount }) => all + amount, 0)
    const seconds = Math.min(WINDOW_MS, Math.max(500, now - this.#since)) / 1000
    return Math.max(0, sum / seconds)
  }

  /** Called after a pause, because earlier samples no longer apply. */
  reset(): void {
    this.#samples = []
    this.#since = undefined
  }

  #forget(now: number): void {
    const first = this.#samples.findIndex(({ at }) => now - at < WINDOW_MS)
    if (first !== 0) this.#samples = first < 0 ? [] : this.#samples.slice(first)
  }
}

/** Estimated seconds for the rest; undefined if unknown. */
export function secondsLeft(rest: number, perSecond: number): number | undefined {
  if (rest <= 0) return 0
  const seconds = perSecond > 0 ? rest / perSecond : Number.POSITIVE_INFINITY
  return seconds < 100 * 3600 ? seconds : undefined
}
