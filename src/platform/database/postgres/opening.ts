import type { Step } from './batch.ts'
import type { StatementLimits } from './deadlines.ts'
import { Statement } from './statements.ts'

// Settings are those of a transaction, never of a session: behind a pooler the next transaction may use another session.
const LIMITS = `set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true),
  set_config('idle_in_transaction_session_timeout', $3, true)`

/** The clock of the database, in Unix seconds. */
export const DATABASE_SECONDS = 'extract(epoch from clock_timestamp())::bigint'

const begin = Statement.named('carrel_begin', 'begin isolation level read committed read write')
// A commit is on disk before it returns (I4), also if the server is configured otherwise. A stronger setting than `on`, such as waiting for a
// replica, is left alone.
const DURABLY = `select ${LIMITS}, set_config('synchronous_commit',
  case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, true),
  ${DATABASE_SECONDS} as began_at`
const durably = Statement.named('carrel_durably', DURABLY)
const durablyInTurn = Statement.named(
  'carrel_durably_in_turn',
  `${DURABLY}, pg_try_advisory_xact_lock_shared($4::int, $5::int) as free`,
)
const inHaste = Statement.named(
  'carrel_in_haste',
  `select ${LIMITS}, set_config('synchronous_commit', 'off', true), ${DATABASE_SECONDS} as began_at`,
)
const beginRead = Statement.named('carrel_begin_read', 'begin isolation level read committed read only')
const limitRead = Statement.named('carrel_limit_read', `select ${LIMITS}`)
const end = Statement.named('carrel_end_read', 'commit')

/**
 * Begins a transaction that may write. It gets a number with its first change. With the two numbers of an advisory lock, a durable one asks for its share of that, and is
 * told as `free` whether it got it.
 */
export function openingOf(
  durable: boolean,
  limits: StatementLimits,
  lock?: readonly [number, number],
): Step[] {
  const values = valuesOf(limits)
  const settings =
    durable && lock !== undefined
      ? { statement: durablyInTurn, values: [...values, ...lock] }
      : { statement: durable ? durably : inHaste, values }
  return [{ statement: begin, values: [] }, settings]
}

/** Steps before and after a read that might be slow, so that the server cancels it in time. */
export function limitedRead(step: Step, limits: StatementLimits): Step[] {
  return [
    { statement: beginRead, values: [] },
    { statement: limitRead, values: valuesOf(limits) },
    step,
    { statement: end, values: [] },
  ]
}

export const commitStep: Step = { statement: Statement.named('carrel_commit', 'commit'), values: [] }

/** The position of the read in its steps. */
export const LIMITED_READ = 2

function valuesOf({ statementMs, lockMs, idleMs }: StatementLimits): string[] {
  return [statementMs, lockMs, idleMs].map((ms) => `${ms}ms`)
}
