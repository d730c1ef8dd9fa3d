/** So much work: a number of requests, or as many as fit into a time. */
export type Amount = { readonly count: number } | { readonly ms: number }

/** What a load generator is to do. */
export interface LoadPlan {
  readonly host: string
  readonly port: number
  /** Each sends its next request when it has the answer to the last one. */
  readonly connections: number
  /**
   * Whole requests as they go over the wire; see RequestTemplate for the numbers in them. The first client
   * sends the first again and again, and so on; where there are fewer than clients, they are shared.
   */
  readonly requests: readonly string[]
  /** Any other status is an error. */
  readonly status: number
  /** Sent first and not counted. */
  readonly warmUp: Amount
  readonly measured: Amount
}

/** What a load generator saw of the measured requests. */
export interface LoadResult {
  readonly requests: number
  /** With the warm-up: the numbers below it were all sent. */
  readonly sent: number
  /** Answers with another status than the one declared, warm-up included. */
  readonly errors: number
  /** The first such answers, status and body. */
  readonly samples: readonly string[]
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Body of one answer, on average. */
  readonly bytesPerAnswer: number
}
