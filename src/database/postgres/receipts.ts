import { randomBytes } from 'node:crypto'
import type { Step } from './batch.ts'
import { Statement } from './statements.ts'

// A receipt is the row that a transaction leaves in `committed_transaction`. If the response to a commit is lost, its node inserts a row with the same id. The
// unique index makes that wait for the transaction if it is still running. A conflict means that it was committed. Without one, the new row keeps it from
// being committed later. Unlike the status of a transaction number, this is also true after a crash or a failover, when numbers are used again.

const KEPT_SECONDS = 120
/** The tables of a transaction that may have changed any. */
const ANY = '*'

const leave = Statement.named(
  'carrel_leave_receipt',
  `insert into committed_transaction (id, number, tables, committed_at)
   values ($1, pg_current_xact_id()::text::bigint, $2, extract(epoch from clock_timestamp())::bigint)`,
)
const claim = Statement.named('carrel_claim_receipt', `${leave.text} on conflict do nothing`)
const find = Statement.named('carrel_find_receipt', 'select tables from committed_transaction where id = $1')

export function newReceiptId(): number {
  return randomBytes(6).readUIntBE(0, 6)
}

/** The last step before the commit. */
export function leaveReceipt(id: number, tables: ReadonlySet<string> | undefined): Step {
  return { statement: leave, values: [id, tables === undefined ? ANY : [...tables].join(',')] }
}

/** Steps of a transaction. The last one finds the tables of the receipt, or none if the transaction was not committed and cannot be any more. */
export function claimReceipt(id: number): Step[] {
  return [
    { statement: claim, values: [id, ''] },
    { statement: find, values: [id] },
  ]
}

export const pruneReceipts = `delete from committed_transaction
  where committed_at < extract(epoch from clock_timestamp())::bigint - ${KEPT_SECONDS}`
