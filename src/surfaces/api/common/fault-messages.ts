import { DomainError, type Fault } from '../../../base/errors.ts'
import type { FaultResponse, FaultResponses } from '../../../platform/http/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'

/** Runs part of a handler with its own fault messages, where one route serves several operations. */
export async function withFaultMessages<T>(messages: FaultResponses, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // The entry under a fault's code accepts only that fault. The compiler cannot infer this through a union.
    const word = messages[error.fault.code] as ((fault: Fault) => FaultResponse) | undefined
    if (word === undefined) throw error
    throw errorMessage(...word(error.fault))
  }
}

/** The message of the fault `permission-denied`. */
export function deniedMessage(message: string): FaultResponses {
  return { 'permission-denied': () => [403, message] }
}
