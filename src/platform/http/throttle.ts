import { addressKey } from './client-address.ts'
import { RateLimit, throttled } from './rate-limit.ts'
import type { HttpRequest } from './request.ts'
import type { Limit, Policy } from './route.ts'

export interface ThrottleOptions {
  readonly enabled: boolean
  /** Unix seconds. */
  readonly now: () => number
  /** Other processes that serve the same clients. Default: there are none. */
  readonly others?: CallExchange | undefined
}

/** Calls of the last minute, by a key of their client. */
export type CallCounts = Readonly<Record<string, number>>

/** Tells other processes how many calls clients have made here, and what they counted. */
interface CallExchange {
  /** Publishes the own counts. Resolves to the sums of all others. */
  exchange(own: CallCounts): Promise<CallCounts>
  onError(error: unknown): void
}

type Counted = Exclude<Limit, 'none'> | 'refused'
type LimitedRoute = { readonly limit: Limit; readonly auth: Policy }

/** How often hot keys are exchanged, while there are some. */
const EXCHANGE_MS = 1000
/** Hot keys of one process that others are told of. */
const MAX_EXCHANGED = 1000

/**
 * The rate limits of one server. Each call is counted once, by address before or by account after authentication. Calls whose credentials are refused
 * are counted by address.
 */
export class Throttle implements Disposable {
  readonly #limits: Record<Counted, RateLimit> | undefined
  readonly #others: CallExchange | undefined
  /** Clients of which other processes are told, as the limit and the key in it. */
  readonly #hot = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor({ enabled, now, others }: ThrottleOptions) {
    if (!enabled) return
    this.#others = others
    const limited = (kind: Counted, calls: number) => {
      const onHot = others && ((key: string) => this.#share(`${kind} ${key}`))
      return new RateLimit(calls, now, { onHot })
    }
    this.#limits = {
      anonymous: limited('anonymous', 60),
      user: limited('user', 3000),
      ping: limited('ping', 3000),
      transfer: limited('transfer', 120_000),
      refused: limited('refused', 6000),
    }
  }

  byAddress(route: LimitedRoute, request: HttpRequest): void {
    const limits = this.#limits
    if (limits === undefined) return
    const { limit } = route
    if (limits.refused.size > 0 && hasCredential(route)) {
      refuseFor(limits.refused.waitFor(addressKey(request.address)))
    }
    if (limit === 'none' || (route.auth !== 'none' && limit !== 'anonymous' && limit !== 'ping')) return
    refuseFor(limits[limit].take(addressKey(request.address)))
  }

  byAccount({ limit }: Pick<LimitedRoute, 'limit'>, userKey: string): void {
    if (this.#limits === undefined || (limit !== 'user' && limit !== 'transfer')) return
    refuseFor(this.#limits[limit].take(`@${userKey}`))
  }

  /** Counts a call that was refused before its client was known. */
  countRefused(route: LimitedRoute, request: HttpRequest): void {
    if (hasCredential(route)) this.#limits?.refused.take(addressKey(request.address))
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#hot.clear()
  }

  #share(client: string): void {
    if (this.#hot.size < MAX_EXCHANGED) this.#hot.add(client)
    this.#timer ??= setTimeout(() => void this.#exchange(), EXCHANGE_MS).unref()
  }

  /** Exchanges the counts of hot keys, again and again until there are none. */
  async #exchange(): Promise<void> {
    const own: Record<string, number> = {}
    for (const client of this.#hot) {
      const calls = this.#limitOf(client)?.hotCalls(keyOf(client))
      if (calls === undefined) this.#hot.delete(client)
      else own[client] = calls
    }
    try {
      const others = await this.#others?.exchange(own)
      for (const client of this.#hot) {
        this.#limitOf(client)?.setOthers(keyOf(client), others?.[client] ?? 0)
      }
    } catch (error) {
      this.#others?.onError(error)
    }
    this.#timer =
      this.#hot.size === 0 ? undefined : setTimeout(() => void this.#exchange(), EXCHANGE_MS).unref()
  }

  #limitOf(client: string): RateLimit | undefined {
    return this.#limits?.[client.slice(0, client.indexOf(' ')) as Counted]
  }
}

function keyOf(client: string): string {
  return client.slice(client.indexOf(' ') + 1)
}

/** Whether a caller needs a credential: of an account, or in transfers a ticket or a sync token. */
function hasCredential({ auth, limit }: LimitedRoute): boolean {
  return auth !== 'none' || limit === 'transfer'
}

function refuseFor(seconds: number): void {
  if (seconds > 0) throw throttled(seconds)
}
