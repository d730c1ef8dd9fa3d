/** How long pipelined requests are served before other events get their turn (I10). */
const TURN_MS = 2

/**
 * Connections whose next request is already there. They take turns, one request each, and all of them together leave
 * most of each round of the event loop to other clients. Requests answered without I/O would otherwise be served to the
 * last one before anybody else is heard.
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
    const until = performance.now() + TURN_MS
    // A request that throws, which none should, must not keep the others from being served.
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
