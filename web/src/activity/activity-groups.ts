import type { ActivityItem } from '../api/index.ts'

/** Things somebody did in one go, told in one line. */
export interface ActivityGroup {
  readonly items: readonly [ActivityItem, ...ActivityItem[]]
}

interface ActivityDay {
  /** As `2026-11-15`, where the reader is. */
  readonly day: string
  readonly groups: readonly ActivityGroup[]
}

/** What one person did in the same way within this time is one group. */
const TOGETHER_MS = 5 * 60_000
const FOLDABLE: ReadonlySet<string> = new Set(['create', 'delete', 'edit', 'recover'])

/** Rows of the feed, newest first, as days of groups. */
export function groupByDay(items: readonly ActivityItem[]): ActivityDay[] {
  const days: { day: string; groups: { items: [ActivityItem, ...ActivityItem[]] }[] }[] = []
  for (const item of items) {
    const day = dayOf(new Date(item.time))
    let current = days.at(-1)
    if (current?.day !== day) {
      current = { day, groups: [] }
      days.push(current)
    }
    const last = current.groups.at(-1)
    if (last !== undefined && belongsTogether(last.items[0], item)) last.items.push(item)
    else current.groups.push({ items: [item] })
  }
  return days
}

function belongsTogether(first: ActivityItem, item: ActivityItem): boolean {
  return (
    FOLDABLE.has(item.op_type) &&
    item.obj_type !== 'repo' &&
    first.op_type === item.op_type &&
    first.obj_type === item.obj_type &&
    first.repo_id === item.repo_id &&
    first.author_email === item.author_email &&
    Date.parse(first.time) - Date.parse(item.time) < TOGETHER_MS
  )
}

export function dayOf(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
