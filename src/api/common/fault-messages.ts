import { DomainError, type Fault } from '../../errors.ts'
import { errorMessage, type FaultResponse, type FaultWords } from '../../http/index.ts'

/** Runs part of a handler with other words for some faults, where one route serves several operations. */
export async function worded<T>(words: FaultWords, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // The entry under a fault's code takes just that fault; the compiler cannot pair them through a union.
    const word = words[error.fault.code] as ((fault: Fault) => FaultResponse) | undefined
    if (word === undefined) throw error
    throw errorMessage(...word(error.fault))
  }
}

/** Words for a caller who may not do it. */
export function denied(message: string): FaultWords {
  return { 'permission-denied': () => [403, message] }
}
