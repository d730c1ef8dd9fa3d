/** Work that whoever runs it may interrupt after each slice, none of which takes a millisecond. */
export type Slices<Result = void> = Generator<void, Result>

/** All of it at once. */
export function atOnce<Result>(slices: Slices<Result>): Result {
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}
