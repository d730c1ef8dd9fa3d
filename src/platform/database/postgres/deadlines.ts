/** Time limits towards PostgreSQL. Nothing waits for it without one. */

/** To open a connection and to look at the server behind it. */
export const CONNECT_MS = 5000
/** Without a byte for this long, it is looked up whether the server still works on a statement. Tests lower it. */
export const silence = { ms: 5000 }
/** To get a connection of the pool. */
export const POOL_WAIT_MS = 10_000
/** For a batch of reads that are known to be fast. */
export const FAST_READS_MS = 10_000
/** To close a connection politely. */
export const CLOSE_MS = 1000
/** A server that is out of reach for less than this is waited for; after that, calls fail at once. Tests lower it. */
export const interruption = { ms: 15_000 }
/** To find out whether a commit was carried out whose response is late. */
export const SETTLE_MS = 30_000
/** A statement is canceled by the server. If it does not do that in time, the connection is closed. */
const CANCEL_MS = 5000

/** Limits of a statement, in milliseconds. */
export interface StatementLimits {
  readonly statementMs: number
  /** To wait for a lock. */
  readonly lockMs: number
  /** An open transaction whose client is silent for this long is rolled back, so that a frozen node keeps no locks. */
  readonly idleMs: number
}

/** While a request waits. Others outwait the locks of a node that has frozen. */
export const requestLimits: StatementLimits = { statementMs: 30_000, lockMs: 10_000, idleMs: 8000 }
/** For work outside of requests. */
export const backgroundLimits: StatementLimits = { statementMs: 600_000, lockMs: 60_000, idleMs: 60_000 }
/** For a page of rows of a backup. */
export const BACKUP_STATEMENT_MS = 600_000
const HOURS_MS = 6 * 3_600_000
/** For steps of the schema, which may create an index of a large table, and for nodes that wait for one that does. */
export const schemaLimits: StatementLimits = { statementMs: HOURS_MS, lockMs: HOURS_MS, idleMs: 60_000 }

/** How long the client waits for the server, which ends statements earlier by itself. */
export function deadlineOf({ statementMs }: StatementLimits): number {
  return statementMs + CANCEL_MS
}
