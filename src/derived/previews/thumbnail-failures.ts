import type { FileId } from '../../base/objects/index.ts'

const MAX_KEPT = 1000
/** Attempts at an image that takes a worker down, and seconds between them. After the last it counts as undecodable. */
const MAX_ATTEMPTS = 3
const RETRY_SECONDS = 30

interface Failure {
  readonly attempts: number
  /** Unix seconds; undefined if nothing would change. */
  readonly retryAt: number | undefined
}

/**
 * LRU cache of file ids without a thumbnail. Requests rejected by a full queue are not recorded, because that
 * says nothing about the image.
 */
export class ThumbnailFailures {
  readonly #now: () => number
  readonly #failures = new Map<FileId, Failure>()

  /** `now` gives Unix seconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Whether to skip the image, permanently or for some seconds. */
  find(id: FileId): 'permanent' | { readonly retryAfterSeconds: number } | undefined {
    const failure = this.#failures.get(id)
    if (failure === undefined) return undefined
    if (failure.retryAt === undefined) return 'permanent'
    const retryAfterSeconds = failure.retryAt - this.#now()
    return retryAfterSeconds > 0 ? { retryAfterSeconds } : undefined
  }

  /** The bytes are no image we decode. */
  addPermanent(id: FileId): void {
    this.#put(id, { attempts: MAX_ATTEMPTS, retryAt: undefined })
  }

  /** A worker ran out of time or memory, or died. The image may not be the cause, so it is retried a few times. */
  addTransient(id: FileId): void {
    const attempts = (this.#failures.get(id)?.attempts ?? 0) + 1
    const retryAt = attempts < MAX_ATTEMPTS ? this.#now() + RETRY_SECONDS * attempts : undefined
    this.#put(id, { attempts, retryAt })
  }

  remove(id: FileId): void {
    this.#failures.delete(id)
  }

  #put(id: FileId, failure: Failure): void {
    this.#failures.delete(id)
    this.#failures.set(id, failure)
    const [oldest] = this.#failures.keys()
    if (this.#failures.size > MAX_KEPT && oldest !== undefined) this.#failures.delete(oldest)
  }
}
