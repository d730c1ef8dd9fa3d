/** Work that yields after each slice of less than a millisecond, so that the caller can interrupt it. */
export type Slices<Result = void> = Generator<void, Result>

/** Runs all slices without interruption. */
export function atOnce<Result>(slices: Slices<Result>): Result {
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}
