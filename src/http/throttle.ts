import { addressKey } from './client-address.ts'
import { RateLimit, throttled } from './rate-limit.ts'
import type { HttpRequest } from './request.ts'
import type { Limit, Policy } from './route.ts'

export interface ThrottleOptions {
  readonly enabled: boolean
  /** Unix seconds. */
  readonly now: () => number
}

/**
 * The rate limits of one server. Each call is counted once, by address before or by account after
 * authentication.
 */
export class Throttle {
  readonly #limits: Record<Exclude<Limit, 'none'>, RateLimit> | undefined

  constructor({ enabled, now }: ThrottleOptions) {
    if (!enabled) return
    this.#limits = {
      anonymous: new RateLimit(60, now),
      user: new RateLimit(3000, now),
      ping: new RateLimit(3000, now),
    }
  }

  byAddress(route: { readonly limit: Limit; readonly auth: Policy }, request: HttpRequest): void {
    const { limit } = route
    if (this.#limits === undefined || limit === 'none' || (limit === 'user' && route.auth !== 'none')) return
    this.#take(this.#limits[limit], addressKey(request.address))
  }

  byAccount(route: { readonly limit: Limit }, userKey: string): void {
    if (this.#limits === undefined || route.limit !== 'user') return
    this.#take(this.#limits.user, `@${userKey}`)
  }

  #take(limit: RateLimit, key: string): void {
    const seconds = limit.take(key)
    if (seconds > 0) throw throttled(seconds)
  }
}
