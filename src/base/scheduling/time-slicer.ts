import { setImmediate as nextTurn } from 'node:timers/promises'

/** Time on the event loop without a yield. */
const SLICE_MS = 2
/** Longest wait for further items of a batch. */
const MAX_BATCH_WAIT_MS = 10

/** Cooperative yield for long loops (I10): after each step, `isDue` tells whether to call `rest`. */
export class TimeSlicer {
  #began = performance.now()

  get isDue(): boolean {
    return performance.now() - this.#began > SLICE_MS
  }

  /** Runs a generator to its end and yields to the event loop whenever it is due. */
  async through<Result>(slices: Generator<void, Result>): Promise<Result> {
    for (;;) {
      const { done, value } = slices.next()
      if (done) return value
      if (this.isDue) await this.rest()
    }
  }

  /** Yields to the event loop and starts a new slice. */
  async rest(): Promise<void> {
    await nextTurn()
    this.#began = performance.now()
  }
}

/**
 * Batches a queue: resolves when one turn of the event loop added nothing to it, when it holds `max` items, or after 10 ms. Requests read in
 * one turn are handled one after another, so they all arrive before the next turn.
 */
export async function batchSettled(queue: { readonly length: number }, max: number): Promise<void> {
  const deadline = performance.now() + MAX_BATCH_WAIT_MS
  let seen: number
  do {
    seen = queue.length
    await nextTurn()
  } while (queue.length > seen && queue.length < max && performance.now() < deadline)
}

/** Work that yields after each slice of less than a millisecond, so that the caller can interrupt it. */
export type Slices<Result = void> = Generator<void, Result>

/** Runs all slices without interruption. */
export function atOnce<Result>(slices: Slices<Result>): Result {
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}
