interface Shared<T> {
  readonly result: Promise<T>
  readonly controller: AbortController
  holders: number
}

/**
 * Request coalescing: callers with the same key share one run. It is aborted when all of them have aborted, not when the first
 * one has.
 */
export class SharedWork<T> {
  readonly #running = new Map<string, Shared<T>>()

  async run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const shared = this.#running.get(key) ?? this.#start(key, work)
    shared.holders += 1
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const abort = () => {
      shared.holders -= 1
      if (shared.holders === 0) {
        if (this.#running.get(key) === shared) this.#running.delete(key)
        shared.controller.abort(signal.reason)
      }
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await Promise.race([shared.result, aborted])
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  /** Resolves when all running work has settled. */
  async settled(): Promise<void> {
    await Promise.allSettled(Array.from(this.#running.values(), ({ result }) => result))
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Shared<T> {
    const controller = new AbortController()
    const result = work(controller.signal).finally(() => {
      if (this.#running.get(key) === shared) this.#running.delete(key)
    })
    // It is unhandled when all callers have aborted.
    result.catch(() => {})
    const shared: Shared<T> = { result, controller, holders: 0 }
    this.#running.set(key, shared)
    return shared
  }
}

/** The group of link visitors. Their number is unlimited, so they share one limit. */
export const VISITORS = 'visitor'

/** The key of an account. */
export function accountRequester(key: number): string {
  return String(key)
}

/** The key of a link visitor with the address `from`, so that visitors do not use up the share of the owner. */
export function visitorRequester(from: string): string {
  return `${VISITORS}:${from}`
}

/** A caller of shared work, as a key for fair scheduling. */
export interface Requester {
  readonly key: string
  /** Aborted when the result is no longer needed. */
  readonly signal: AbortSignal
}
