import { fail } from '../errors.ts'
import { Busy } from './fair-semaphore.ts'

/** For `catch`: what callers of a surface are told when a queue is full. Anything else is thrown on. */
export function failIfBusy(error: unknown): never {
  if (error instanceof Busy) fail({ code: 'busy', seconds: error.retryAfterSeconds })
  throw error
}
