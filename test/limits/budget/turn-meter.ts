/**
 * Measures turns of the event loop of this thread, in milliseconds of CPU time. Wall time would count what other processes of a busy machine take.
 * CPU time of the threads for hashing, decoding and files is not counted, because nobody waits for their turns.
 */
export class TurnMeter implements Disposable {
  #longestMs = 0
  #lastMs = 0
  #next: NodeJS.Immediate | undefined

  constructor() {
    this.#turn()
  }

  /** The longest turn since the last call. */
  takeLongestMs(): number {
    const longestMs = this.#longestMs
    this.#longestMs = 0
    this.#lastMs = cpuMs()
    return longestMs
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#next)
  }

  readonly #turn = (): void => {
    const now = cpuMs()
    this.#longestMs = Math.max(this.#longestMs, now - this.#lastMs)
    this.#lastMs = now
    // Unreferenced, so that the loop still waits for events instead of spinning. It runs once in every turn.
    this.#next = setImmediate(this.#turn).unref()
  }
}

/** What the reference takes on the machine that the limit of a turn was set on, in milliseconds. */
const REFERENCE_MS = 2.4
const RECORDS = Array.from({ length: 4000 }, (_, n) => ({
  id: n,
  name: `name ${n}`,
  size: n * 1000,
  path: `/folder ${n % 7}/name ${n}`,
}))

/** How many times as long as there a computation takes here and now, at least 1: other processes take caches and cycles, and machines differ. */
export function slowness(): number {
  const times = Array.from({ length: 15 }, () => {
    const before = cpuMs()
    JSON.parse(JSON.stringify(RECORDS))
    return cpuMs() - before
  }).sort((a, b) => a - b)
  return Math.max(1, (times[7] ?? 0) / REFERENCE_MS)
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
