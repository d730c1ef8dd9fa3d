import { DatabaseError, type DatabaseReason } from '../errors.ts'

const reasons: Record<string, DatabaseReason> = {
  '23505': 'unique',
  '23503': 'foreign-key',
  '53100': 'full',
  // read_only_sql_transaction and io_error.
  '25006': 'unwritable',
  '58030': 'unwritable',
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
  '53300': 'unreachable',
}
const lostConnection =
  /connection terminated|connection error|client was closed|connection timeout|timeout expired/i
const retried = new Set(['40001', '40P01'])

/** Translates an error of the driver. `place` names the server without its password. */
export function translate(error: unknown, place: string): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseError || error instanceof RangeError) return error
  const code = codeOf(error)
  if (isSqlState(code) && !code.startsWith('08')) {
    return new DatabaseError(reasons[code] ?? 'other', `PostgreSQL: ${error.message} (${code})`, {
      cause: error,
    })
  }
  if (code !== '' || lostConnection.test(error.message)) {
    return new DatabaseError('unreachable', `PostgreSQL at ${place} cannot be reached.`, { cause: error })
  }
  return new DatabaseError('other', `PostgreSQL: ${error.message}`, { cause: error })
}

/** Whether the whole transaction should be retried: serialization failure or deadlock. */
export function asksForRetry(error: unknown): boolean {
  return error instanceof Error && (retried.has(codeOf(error)) || asksForRetry(error.cause))
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code)
}
