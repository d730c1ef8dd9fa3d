import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { waitLimits } from '../request-waits.ts'
import { interruption } from './deadlines.ts'

const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 500

/**
 * Tracks whether the server is reachable, and retries calls with backoff during a short outage, such as a restart of the server. After
 * `interruption.ms` of outage, calls fail fast with their first error until the server is reachable again.
 */
export class Availability {
  readonly #logger: Logger
  readonly #limitMs: number
  #wasReached = false
  /** When the first call failed since the last that succeeded. */
  #failingSince: number | undefined

  constructor(logger: Logger, limitMs = interruption.ms) {
    this.#logger = logger
    this.#limitMs = limitMs
  }

  /** To be called when the server has answered. */
  noteSuccess(): void {
    this.#wasReached = true
    if (this.#failingSince === undefined) return
    const seconds = Math.round((performance.now() - this.#failingSince) / 1000)
    this.#failingSince = undefined
    this.#logger.info({ seconds }, 'PostgreSQL can be reached again')
  }

  /**
   * Runs `attempt` until it succeeds, fails for another reason than an unreachable server, or the interruption is too long. A server that was
   * never reached is not waited for: a wrong address is reported at once. The time of the first attempt does not count, because its connection may have
   * been silent while others were not.
   */
  async retry<T>(attempt: () => Promise<T>): Promise<T> {
    const began = performance.now()
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        return await attempt()
      } catch (error) {
        if (!isUnreachable(error) || !this.#shouldWait(error, began)) throw error
        // Half of the pause is random, so that all who wait do not return at the same moment.
        await delay((pauseMs * (1 + Math.random())) / 2)
      }
    }
  }

  #shouldWait(error: unknown, began: number): boolean {
    const now = performance.now()
    if (this.#failingSince === undefined) {
      this.#failingSince = now
      if (this.#wasReached) this.#logger.warn({ err: error }, 'PostgreSQL cannot be reached')
    }
    return this.#wasReached && now - this.#failingSince < this.#limitMs && now - began < waitLimits.requestMs
  }
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof DatabaseError && error.reason === 'unreachable'
}
