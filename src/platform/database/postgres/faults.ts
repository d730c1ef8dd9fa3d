import { DatabaseError as ServerError } from 'pg'
import { DatabaseError, type DatabaseReason } from '../errors.ts'

const reasons: Record<string, DatabaseReason> = {
  '23505': 'unique',
  '23503': 'foreign-key',
  '53100': 'full',
  // io_error.
  '58030': 'unwritable',
  // read_only_sql_transaction: the server has become a standby, and another one is to be found.
  '25006': 'unreachable',
  // idle_in_transaction_session_timeout and idle_session_timeout: the server has closed the connection.
  '25P03': 'unreachable',
  '57P05': 'unreachable',
  // The server stops, has crashed, or starts.
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
  // too_many_connections.
  '53300': 'unreachable',
  // lock_not_available (lock_timeout) and query_canceled (statement_timeout).
  '55P03': 'busy',
  '57014': 'busy',
}
const lostConnection =
  /connection terminated|connection error|client was closed|connection timeout|timeout expired/i
const noFreeConnection = /timeout exceeded when trying to connect/i
const retried = new Set(['40001', '40P01'])

/** Translates an error of the driver. `place` names the server without its password. */
export function translate(error: unknown, place: string): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseError || error instanceof RangeError) return error
  if (error instanceof ServerError) {
    const { code = '' } = error
    const reason = code.startsWith('08') ? 'unreachable' : (reasons[code] ?? 'other')
    return new DatabaseError(reason, `PostgreSQL: ${error.message} (${code})`, { cause: error })
  }
  if (noFreeConnection.test(error.message)) {
    return new DatabaseError('busy', `All connections to PostgreSQL at ${place} are in use.`, {
      cause: error,
    })
  }
  // Errors of sockets and of name resolution have a code.
  if ('code' in error || lostConnection.test(error.message)) {
    return new DatabaseError('unreachable', `PostgreSQL at ${place} cannot be reached.`, { cause: error })
  }
  return new DatabaseError('other', `PostgreSQL: ${error.message}`, { cause: error })
}

/** Whether the whole transaction should be retried: serialization failure, deadlock, or a prepared statement that has become stale. */
export function asksForRetry(error: unknown): boolean {
  return (
    error instanceof Error && (retried.has(codeOf(error)) || isStalePlan(error) || asksForRetry(error.cause))
  )
}

/**
 * Whether a prepared statement has other columns than when it was prepared, because another node has changed the schema. The session rejects it
 * forever, so its connection has to be replaced.
 */
export function isStalePlan(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // The code is that of every unsupported feature, and the message is translated.
  const isStale = error instanceof ServerError && error.routine === 'RevalidateCachedQuery'
  return (isStale && codeOf(error) === '0A000') || isStalePlan(error.cause)
}

/** Whether the server refuses writes because it is a standby. */
export function isOfStandby(error: unknown): boolean {
  return error instanceof Error && (codeOf(error) === '25006' || isOfStandby(error.cause))
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}
