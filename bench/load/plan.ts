import type { Address } from './address.ts'

/** A number of requests, or a duration. */
export type Amount = { readonly count: number } | { readonly ms: number }

/** Input of a load generator. */
export interface LoadPlan extends Address {
  /** Each sends its next request after the response to the previous one. */
  readonly connections: number
  /**
   * Complete requests with the placeholders of RequestTemplate. The first client repeats the first one, and so on; if there
   * are fewer requests than clients, they are shared.
   */
  readonly requests: readonly string[]
  /** The text whose hash replaces `{sha1}`. Default: the body. */
  readonly hashed?: string
  /** Any other status is an error. */
  readonly status: number
  /** Sent first and not counted. */
  readonly warmUp: Amount
  readonly measured: Amount
}

/** Result of a load generator. */
export interface LoadResult {
  readonly requests: number
  /** Whether it lasted for a given time, not for a given number of requests. */
  readonly isTimed: boolean
  /** Including the warm-up: all request numbers below it were sent. */
  readonly sent: number
  /** Responses with an undeclared status, including the warm-up. */
  readonly errors: number
  /** The first such responses: status and body. */
  readonly samples: readonly string[]
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Mean length of a response body. */
  readonly bytesPerResponse: number
}
