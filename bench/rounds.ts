/** The one of several results that is in the middle by a number of each. */
export function middle<T>(results: readonly T[], number: (result: T) => number): T {
  const sorted = results.toSorted((a, b) => number(a) - number(b))
  const found = sorted[Math.floor(sorted.length / 2)]
  if (found === undefined) throw new Error('there is no middle of nothing')
  return found
}
