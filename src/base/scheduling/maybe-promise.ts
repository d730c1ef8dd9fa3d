/**
 * A value that need not be waited for is no promise. Each promise of a frequent call costs about as much as reading a cached row.
 */
export type MaybePromise<T> = T | Promise<T>

/** Hands a value on once it is there, at once if it is. */
export function whenReady<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(use) : use(value)
}
