import { ApiError, call } from '../api/index.ts'

const RETRY_MS = [500, 1000, 2000, 5000, 10_000, 20_000]

/** Whether the server can be reached, as far as uploads noticed. Once it cannot, it is asked until it can. */
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

  /** Something did not get through. */
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
    // Whatever it says, it is there; a proxy in front of it that is alone says 502 or 504.
    return error instanceof ApiError && error.status !== 0 && error.status < 502
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
