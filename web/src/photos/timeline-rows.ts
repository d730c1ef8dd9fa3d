import type { PhotoDay } from '../api/index.ts'

/** A row of the timeline: the heading of a day, or photos side by side. `first` is the place of the first photo. */
export type TimelineRow =
  | { readonly kind: 'day'; readonly day: PhotoDay }
  | { readonly kind: 'photos'; readonly day: PhotoDay; readonly first: number; readonly count: number }

/** A month with photos. `row` is its first row. */
export interface TimelineMonth {
  /** `YYYY-MM`. */
  readonly month: string
  readonly count: number
  readonly row: number
}

/** The height of each row is known before any photo is loaded, so that nothing moves while scrolling. */
export function timelineRows(days: readonly PhotoDay[], columns: number): TimelineRow[] {
  const rows: TimelineRow[] = []
  for (const day of days) {
    rows.push({ kind: 'day', day })
    for (let done = 0; done < day.count; done += columns) {
      rows.push({ kind: 'photos', day, first: day.first + done, count: Math.min(columns, day.count - done) })
    }
  }
  return rows
}

export function timelineMonths(rows: readonly TimelineRow[]): TimelineMonth[] {
  const months: TimelineMonth[] = []
  for (const [row, one] of rows.entries()) {
    if (one.kind !== 'day') continue
    const month = one.day.day.slice(0, 7)
    const last = months.at(-1)
    if (last?.month === month) months[months.length - 1] = { ...last, count: last.count + one.day.count }
    else months.push({ month, count: one.day.count, row })
  }
  return months
}

/** The row that shows the photo at a place. */
export function rowOfPlace(rows: readonly TimelineRow[], place: number): number {
  let [low, high] = [0, rows.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const row = rows[middle]
    const first = row === undefined ? 0 : row.kind === 'day' ? row.day.first : row.first
    if (first <= place) low = middle
    else high = middle - 1
  }
  return low
}
