import { CarrelError, call } from '../api/index.ts'

const RETRY_MS = [500, 1000, 2000, 5000, 10_000, 20_000]

/** Reachability of the server, as seen by uploads. Once lost, the server is polled until it responds. */
export class Connection {
  readonly #onChange: (isCut: boolean) => void
  #back: Promise<void> | undefined

  constructor(onChange: (isCut: boolean) => void) {
    this.#onChange = onChange
    addEventListener('offline', () => this.cut())
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
      await pauseOrOnline(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] ?? 0)
      if (navigator.onLine && (await answers())) break
    }
    this.#back = undefined
    this.#onChange(false)
  }
}

async function answers(): Promise<boolean> {
  try {
    await call('GET', 'api2/ping/')
    return true
  } catch (error) {
    // Any response means it is reachable, except 502 and 504 of a proxy without a backend.
    return error instanceof CarrelError && error.status !== 0 && error.status < 502
  }
}

function pauseOrOnline(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener('online', done)
  })
}
