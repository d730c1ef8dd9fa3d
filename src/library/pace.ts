import { setImmediate as nextTurn } from 'node:timers/promises'

const LONGEST_TURN_MS = 2

/** Keeps a loop over many entries from holding up others (I10): asked after each, it says when to rest. */
export class Pace {
  #began = performance.now()

  get isDue(): boolean {
    return performance.now() - this.#began > LONGEST_TURN_MS
  }

  /** Others get their turn. */
  async rest(): Promise<void> {
    await nextTurn()
    this.#began = performance.now()
  }
}
