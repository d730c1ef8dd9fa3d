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
