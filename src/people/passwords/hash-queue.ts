import { DomainError } from '../../base/errors.ts'
import { Busy, FairSemaphore } from '../../base/scheduling/index.ts'

/** The client a hash is computed for. */
export interface HashClient {
  /** The unit of fairness: a network address, or an account. */
  readonly source: string
  /** What the password protects. Within a source, subjects take turns. */
  readonly subject: string
  /** Aborted when the client no longer waits. */
  readonly signal?: AbortSignal | undefined
}

interface HashQueueOptions {
  /** Concurrent hashes. They run on libuv's four threads, of which files and name lookups need some. */
  readonly slots: number
  /** False removes the limit of the queue, for tests and trusted networks. */
  readonly bounded?: boolean
}

/** At 50 ms per hash, the last waiter of a single source waits 1.5 s. */
const WAITING_PER_SOURCE = 30
const SOURCES = 300
const MAX_WAIT_MS = 15_000
const RETRY_AFTER_SECONDS = 5

/**
 * Schedules password hashes. A hash takes at least 50 ms of CPU time, so without fairness one client could
 * block all sign-ins. Sources take turns and compute one hash at a time. Within a source, subjects take
 * turns.
 */
export class HashQueue {
  readonly #bounded: boolean
  readonly #sources: FairSemaphore
  /** Selects the next waiter of each source, so that a source has one waiter among the sources. */
  readonly #withinSource = new Map<string, { readonly semaphore: FairSemaphore; users: number }>()

  constructor({ slots, bounded = true }: HashQueueOptions) {
    this.#bounded = bounded
    const bounds = { waiting: SOURCES, waitMs: MAX_WAIT_MS, retryAfterSeconds: RETRY_AFTER_SECONDS }
    this.#sources = new FairSemaphore({ slots, ...(bounded && bounds) })
  }

  /** Throws too-many-tries when the queue is full. */
  async run<T>({ source, subject, signal }: HashClient, work: () => Promise<T>): Promise<T> {
    const own = this.#withinSource.get(source) ?? { semaphore: this.#newSemaphore(), users: 0 }
    this.#withinSource.set(source, own)
    own.users += 1
    try {
      return await own.semaphore.run(subject, () => this.#sources.run(source, work, signal), signal)
    } catch (error) {
      if (!(error instanceof Busy)) throw error
      throw new DomainError({ code: 'too-many-tries', seconds: error.retryAfterSeconds }, { cause: error })
    } finally {
      own.users -= 1
      if (own.users === 0) this.#withinSource.delete(source)
    }
  }

  #newSemaphore(): FairSemaphore {
    const bounds = { waiting: WAITING_PER_SOURCE, retryAfterSeconds: RETRY_AFTER_SECONDS }
    return new FairSemaphore({ slots: 1, ...(this.#bounded && bounds) })
  }
}
