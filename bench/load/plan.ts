/** So much work: a number of requests, or as many as fit into a time. */
export type Amount = { readonly count: number } | { readonly ms: number }

/** What a load generator is to do. */
export interface LoadPlan {
  readonly host: string
  readonly port: number
  /** Each sends its next request when it has the answer to the last one. */
  readonly connections: number
  /** The whole request as it goes over the wire; see RequestTemplate for the numbers in it. */
  readonly request: string
  /** Any other status is an error. */
  readonly status: number
  /** Sent first and not counted. */
  readonly warmUp: Amount
  readonly measured: Amount
}

/** What a load generator saw of the measured requests. */
export interface LoadResult {
  readonly requests: number
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
