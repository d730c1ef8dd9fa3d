import { type Clock, type Network } from './network.ts'

const RETRY_MS = [500, 1000, 2000, 5000, 10_000, 20_000]

/** Reachability of the server, as seen by uploads. Once lost, the server is polled until it responds. */
export class Connection {
  readonly #network: Network
  readonly #clock: Clock
  readonly #onChange: (isCut: boolean) => void
  #back: Promise<void> | undefined
  #retry: () => void = () => undefined

  constructor(network: Network, clock: Clock, onChange: (isCut: boolean) => void) {
    this.#network = network
    this.#clock = clock
    this.#onChange = onChange
    network.onOnline((isOnline) => (isOnline ? this.#retry() : this.cut()))
  }

  get isCut(): boolean {
    return this.#back !== undefined
  }

  /** Called when a request failed without a response. */
  cut(): void {
    void this.whenBack()
  }

  whenBack(): Promise<void> {
    if (this.#back === undefined) {
      this.#back = this.#ask()
      this.#onChange(true)
    }
    return this.#back
  }

  async #ask(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      await this.#pauseOrOnline(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] ?? 0)
      if (this.#network.isOnline && (await this.#network.isReachable())) break
    }
    this.#back = undefined
    this.#onChange(false)
  }

  #pauseOrOnline(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve)
      this.#retry = () => {
        cancel()
        resolve()
      }
    })
  }
}
