/** The median result by a number of each. */
export function median<T>(results: readonly T[], number: (result: T) => number): T {
  const sorted = results.toSorted((a, b) => number(a) - number(b))
  const found = sorted[Math.floor(sorted.length / 2)]
  if (found === undefined) throw new Error('the median of no results')
  return found
}
