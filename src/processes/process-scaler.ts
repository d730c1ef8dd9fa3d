/** A process whose event loop is busy for a larger share of the time adds waiting time to every request. */
const BUSY_UTILIZATION = 0.85
/** One process fewer must have this share at most, or it would soon be started again. */
const QUIET_UTILIZATION = 0.4
const BUSY_TICKS = 5
const QUIET_TICKS = 300

/**
 * Decides how many processes serve: one more when the event loops of all have been saturated for five seconds, one fewer when the others could do its work
 * with ease for five minutes. Counts its calls instead of reading a clock, so that a machine that was suspended looks neither idle nor busy.
 */
export class ProcessScaler {
  readonly #max: number
  #busyTicks = 0
  #quietTicks = 0

  constructor(max: number) {
    this.#max = max
  }

  /** To be called every second with the event loop utilization of each process that serves. */
  decide(utilizations: readonly number[]): 'grow' | 'shrink' | 'stay' {
    const count = utilizations.length
    const sum = utilizations.reduce((total, one) => total + one, 0)
    const isBusy = utilizations.every((one) => one > BUSY_UTILIZATION)
    const isQuiet = sum < QUIET_UTILIZATION * (count - 1)
    this.#busyTicks = isBusy && count < this.#max ? this.#busyTicks + 1 : 0
    this.#quietTicks = isQuiet ? this.#quietTicks + 1 : 0
    if (this.#busyTicks >= BUSY_TICKS) return this.#decided('grow')
    if (this.#quietTicks >= QUIET_TICKS) return this.#decided('shrink')
    return 'stay'
  }

  #decided(decision: 'grow' | 'shrink'): 'grow' | 'shrink' {
    this.#busyTicks = 0
    this.#quietTicks = 0
    return decision
  }
}
