import { fail } from '../errors.ts'
import { Busy } from './fair-semaphore.ts'

/** For `catch`: turns a full queue into the fault `busy`. Other errors are rethrown. */
export function failIfBusy(error: unknown): never {
  if (error instanceof Busy) fail({ code: 'busy', seconds: error.retryAfterSeconds })
  throw error
}
