import { randomBytes } from 'node:crypto'
import { DatabaseError as ServerError } from 'pg'
import type { Step } from './batch.ts'
import { DATABASE_SECONDS } from './opening.ts'
import { Statement } from './statements.ts'

// A receipt is the row that a transaction leaves in `committed_transaction`. If the response to a commit is lost, its node inserts a row with the same id. The
// unique index makes that wait for the transaction if it is still running. A conflict means that it was committed. Without one, the new row keeps it from
// being committed later. Unlike the status of a transaction number, this is also true after a crash or a failover, when numbers are used again.

const KEPT_SECONDS = 120
const NOT_NULL_VIOLATION = '23502'
/** The clocks of two servers differ by less. */
const CLOCK_SECONDS = 30
/** The tables of a transaction that may have changed any. */
const ANY = '*'

const leave = Statement.named(
  'carrel_leave_receipt',
  `insert into committed_transaction (id, number, tables, committed_at)
   values ($1, pg_current_xact_id()::text::bigint, $2, ${DATABASE_SECONDS})`,
)
/** The lease that a transaction needs, and the query that finds it. */
export interface RequiredLease {
  readonly query: string
  readonly name: string
}

const leavingWith = new Map<string, Statement>()

/**
 * As `leave`, and fails if the query finds no lease: then the id is null. Part of the receipt, because a statement of its own would cost every transaction more than a
 * look at a table of a few rows.
 */
function leaveWith(query: string): Statement {
  let statement = leavingWith.get(query)
  if (statement === undefined) {
    const found = `(select $1::bigint where exists (${query.replace('?', '$3')}))`
    statement = Statement.named('carrel_leave_receipt_with', leave.text.replace('$1', found))
    leavingWith.set(query, statement)
  }
  return statement
}

/** Whether a receipt was refused for lack of the lease. */
export function isLeaseEnded(error: unknown): boolean {
  if (!(error instanceof ServerError)) return false
  return error.code === NOT_NULL_VIOLATION && error.table === 'committed_transaction'
}

const claim = Statement.named('carrel_claim_receipt', `${leave.text} on conflict do nothing`)
const find = Statement.named(
  'carrel_find_receipt',
  `select tables, ${DATABASE_SECONDS} as now from committed_transaction where id = $1`,
)

export function newReceiptId(): number {
  return randomBytes(6).readUIntBE(0, 6)
}

/** The last step before the commit. */
export function leaveReceipt(
  id: number,
  tables: ReadonlySet<string> | undefined,
  lease: RequiredLease | undefined,
): Step {
  const values = [id, tables === undefined ? ANY : [...tables].join(',')]
  if (lease === undefined) return { statement: leave, values }
  return { statement: leaveWith(lease.query), values: [...values, lease.name] }
}

/**
 * Steps of a transaction. The last one finds the tables of the receipt, or none if the transaction was not committed and cannot be any more. `now` is the
 * time of the database.
 */
export function claimReceipt(id: number): Step[] {
  return [
    { statement: claim, values: [id, ''] },
    { statement: find, values: [id] },
  ]
}

/**
 * Whether a receipt that is not there was never left. The receipt of an older transaction may have been deleted, for example while this node was suspended.
 * Times are those of the database.
 */
export function isMissingForSure(beganAt: number, now: number): boolean {
  return now - beganAt < KEPT_SECONDS - CLOCK_SECONDS
}

export const pruneReceipts = `delete from committed_transaction
  where committed_at < ${DATABASE_SECONDS} - ${KEPT_SECONDS}`
