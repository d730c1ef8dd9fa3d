import type { ActivityItem } from '../api/index.ts'

/** Similar activities of one person, shown as one row. */
export interface ActivityGroup {
  /** One for each file or folder: the latest. Six saves of a file are one change of one file. */
  readonly items: readonly [ActivityItem, ...ActivityItem[]]
}

interface ActivityDay {
  /** Local date, such as `2026-11-15`. */
  readonly day: string
  readonly groups: readonly ActivityGroup[]
}

/** Equal operations of one person within this time form a group. */
const TOGETHER_MS = 5 * 60_000
const FOLDABLE: ReadonlySet<string> = new Set(['create', 'delete', 'edit', 'recover'])

/** Groups the rows of the feed, newest first, by day and operation. */
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
    if (last !== undefined && belongsTogether(last.items[0], item)) {
      if (item.op_type !== 'edit' || last.items.every(({ path }) => path !== item.path)) last.items.push(item)
    } else current.groups.push({ items: [item] })
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
    first.via_link === item.via_link &&
    Date.parse(first.time) - Date.parse(item.time) < TOGETHER_MS
  )
}

export function dayOf(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
