import type { DayValue } from '../api/index.ts'

const DAY_MS = 86_400_000

/** The days with the current value as that of today. The server records a day once, so its value is hours old. */
export function withCurrentValue(days: readonly DayValue[], value: number, nowMs: number): DayValue[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  const earlier = days.filter(({ time }) => Date.parse(time) < today)
  return [...earlier, { time: new Date(today).toISOString(), value }]
}
