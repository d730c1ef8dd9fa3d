/**
 * Marks a promise as handled, so that its rejection is never an unhandled rejection, which ends the process. For callers that start several statements
 * concurrently and await them in turn: if the first rejects, the others are never awaited.
 */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore)
  return promise
}

function ignore(): void {}
