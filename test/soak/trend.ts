/** A measured value over time. */
export interface Point {
  /** Seconds since the start. */
  readonly at: number
  readonly value: number
}

/** How much a value may grow. */
export interface Limit {
  /** Growth over the second half of the run that counts as flat, in the unit of the value. */
  readonly growth: number
  /** As a share of the mean of that half, if this is more. */
  readonly share: number
}

export interface Trend {
  readonly mean: number
  /** Growth over the second half of the run, by the slope of a Theil–Sen regression. */
  readonly growth: number
  readonly allowed: number
  readonly isFlat: boolean
}

/**
 * Judges whether a value is flat over the second half of a run. The slope is the median of the slopes between all pairs of points
 * (Theil–Sen), which a few outliers do not change: a checkpoint, a collection, a busy machine.
 */
export function trendOf(points: readonly Point[], limit: Limit): Trend {
  const end = points.at(-1)?.at ?? 0
  const half = points.filter(({ at }) => at >= end / 2)
  const mean = half.reduce((sum, { value }) => sum + value, 0) / Math.max(1, half.length)
  const slopes: number[] = []
  for (const [index, one] of half.entries()) {
    for (const other of half.slice(index + 1)) slopes.push((other.value - one.value) / (other.at - one.at))
  }
  slopes.sort((a, b) => a - b)
  const slope = slopes[Math.floor(slopes.length / 2)] ?? 0
  const growth = slope * (end / 2)
  const allowed = Math.max(limit.growth, limit.share * mean)
  return { mean, growth, allowed, isFlat: growth <= allowed }
}
