/** How long requests are begun before yielding to the event loop (I10). */
const SLICE_MS = 2

/**
 * Queue of connections whose next request has arrived. It is served in one callback after the turn of the event loop in which they arrived, so that the database
 * is asked once for all of them whether it has changed. They take turns, one request each, and yield to the event loop. Otherwise pipelined requests
 * served without I/O would starve all other clients.
 */
export class PipelineQueue {
  readonly #waiting: (() => void)[] = []
  #isScheduled = false

  add(serveNext: () => void): void {
    this.#waiting.push(serveNext)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#run)
  }

  readonly #run = (): void => {
    this.#isScheduled = false
    const until = performance.now() + SLICE_MS
    // A request that throws unexpectedly must not keep the others from being served.
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        next()
        if (performance.now() >= until) break
      }
    } finally {
      if (this.#waiting.length > 0) this.#schedule()
    }
  }
}
