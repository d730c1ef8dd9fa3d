import { detail, type Refusal } from '../responses/index.ts'
import { addressKey } from './client-address.ts'

const RETRY_SECONDS = 10

/** Counts the concurrent requests of each client whose connections do not limit them: behind a trusted proxy, and over HTTP/2. */
export class RequestsInFlight {
  readonly #most: number
  readonly #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Counts a request until the returned function is called. Throws a refusal (429) if there are too many. */
  enter(address: string): () => void {
    const key = addressKey(address)
    const count = this.#counts.get(key) ?? 0
    if (count >= this.#most) throw tooMany()
    this.#counts.set(key, count + 1)
    return () => {
      const left = (this.#counts.get(key) ?? 0) - 1
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
    }
  }

  get clients(): number {
    return this.#counts.size
  }
}

function tooMany(): Refusal {
  return detail(429, 'Too many requests at the same time.', { 'Retry-After': RETRY_SECONDS })
}
