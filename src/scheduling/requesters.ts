/** The group of those who come by a link and have no account. There may be any number of them, so they are bounded together. */
export const VISITORS = 'visitor'

/** The key of an account, for what is shared between requesters. */
export function accountRequester(key: number): string {
  return String(key)
}

/** The key of somebody who comes by a link: `from` is their address, so that they do not count as the owner. */
export function visitorRequester(from: string): string {
  return `${VISITORS}:${from}`
}

/** Who wants something done that is shared between requesters. */
export interface Requester {
  readonly key: string
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal
}
