/** Ends one attempt of a request: when it makes no progress for a while, and when it takes too long as a whole. */
export class Watchdog implements Disposable {
  readonly #controller = new AbortController()
  readonly #whole: NodeJS.Timeout
  readonly #stall: NodeJS.Timeout

  constructor({ stallMs, attemptMs }: { readonly stallMs: number; readonly attemptMs: number }) {
    const end = (reason: string) => () => this.abort(new Error(reason))
    this.#whole = setTimeout(end(`it took longer than ${attemptMs} ms`), attemptMs)
    this.#stall = setTimeout(end(`nothing moved for ${stallMs} ms`), stallMs)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: Error): void {
    this.#controller.abort(reason)
  }

  /** To be called when bytes moved in either direction. */
  progress(): void {
    this.#stall.refresh()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#whole)
    clearTimeout(this.#stall)
  }
}
