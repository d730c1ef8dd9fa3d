import { setImmediate as nextTurn } from 'node:timers/promises'

const LONGEST_TURN_MS = 2
// What somebody waits at most for others to share what is done for all.
const LONGEST_GATHERING_MS = 10

/** Keeps a loop over many entries from holding up others (I10): asked after each, it says when to rest. */
export class Pace {
  #began = performance.now()

  get isDue(): boolean {
    return performance.now() - this.#began > LONGEST_TURN_MS
  }

  /** Does some work, resting whenever it is due. */
  async through<Result>(slices: Generator<void, Result>): Promise<Result> {
    for (;;) {
      const { done, value } = slices.next()
      if (done) return value
      if (this.isDue) await this.rest()
    }
  }

  /** Others get their turn. */
  async rest(): Promise<void> {
    await nextTurn()
    this.#began = performance.now()
  }
}

/**
 * Resolves when a turn of the loop brought nothing more into a queue, or it has `most`. Requests read in one turn run on
 * one after another, so only after it have all of them come; and while many come, one group costs less than several.
 */
export async function gathered(queue: { readonly length: number }, most: number): Promise<void> {
  const deadline = performance.now() + LONGEST_GATHERING_MS
  let seen: number
  do {
    seen = queue.length
    await nextTurn()
  } while (queue.length > seen && queue.length < most && performance.now() < deadline)
}
