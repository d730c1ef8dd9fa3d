import type { Step } from './batch.ts'
import { Statement } from './statements.ts'

// A mutex is an advisory lock of a transaction, because a pooler may give the next transaction of a session to another connection. PostgreSQL grants
// advisory locks in the order of the requests.

/** Distinguishes these locks from other advisory locks of the database. */
const LOCK_CLASS = 0x6361_7265
const MAX_WAIT = '10s'
const MAX_HELD = '60s'
const MAX_INT = 2 ** 31

const begin = Statement.named('carrel_mutex_begin', 'begin isolation level read committed read only')
// A frozen node keeps it no longer than others wait for their answers.
const limitWait = Statement.named(
  'carrel_mutex_wait',
  `select set_config('lock_timeout', '${MAX_WAIT}', true),
     set_config('idle_in_transaction_session_timeout', '${MAX_HELD}', true)`,
)
const lock = Statement.named('carrel_mutex_lock', 'select pg_advisory_xact_lock($1::int, $2::int)')
const end = Statement.named('carrel_mutex_end', 'rollback')

export function lockSteps(key: number): Step[] {
  return [
    { statement: begin, values: [] },
    { statement: limitWait, values: [] },
    { statement: lock, values: lockOf(key) },
  ]
}

/** The two numbers of an advisory lock. */
export function lockOf(key: number): [number, number] {
  return [LOCK_CLASS, key % MAX_INT]
}

export const unlockStep: Step = { statement: end, values: [] }

export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}
