import { addressKey, plainAddress } from '../client-address.ts'
import { RateLimit } from '../rate-limit.ts'
import type { ConnectionLimits } from '../transport.ts'

/** Streams of one connection that may end without a response, in a minute. */
const PER_CONNECTION = 500
/** The same of one address, over all its connections. */
const PER_ADDRESS = 2000

/** The streams of one connection that ended without a response. */
export interface StreamResets {
  /** Whether the address has already had as many as it may. */
  readonly isExceeded: boolean
  /** Counts one. False if that is more than the connection or its address may have. */
  count(): boolean
}

/**
 * Counts HTTP/2 streams that are reset, by connection and by address. Opening and resetting streams makes work without ever waiting for a
 * response, so that neither the number of concurrent streams nor the responses limit it (CVE-2023-44487, CVE-2025-8671).
 */
export class ResetLimiter {
  readonly #isExempt: ConnectionLimits['isExempt']
  readonly #ofAddresses = new RateLimit(PER_ADDRESS, seconds)

  constructor({ isExempt }: Pick<ConnectionLimits, 'isExempt'>) {
    this.#isExempt = isExempt
  }

  of(remoteAddress: string | undefined): StreamResets {
    const address = plainAddress(remoteAddress ?? '')
    const key = this.#isExempt(address) ? undefined : addressKey(address)
    const ofAddresses = this.#ofAddresses
    const ofConnection = new RateLimit(PER_CONNECTION, seconds)
    return {
      get isExceeded() {
        return key !== undefined && ofAddresses.waitFor(key) > 0
      },
      count: () => ofConnection.take('') === 0 && (key === undefined || ofAddresses.take(key) === 0),
    }
  }
}

function seconds(): number {
  return performance.now() / 1000
}
