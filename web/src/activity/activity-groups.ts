import type { ActivityItem } from '../api/index.ts'
import { parentOf } from '../paths.ts'

/** Similar activities of one person, shown as one row. */
export interface ActivityGroup {
  /** One for each file or folder: the latest. Six saves of a file are one change of one file. */
  readonly items: readonly [ActivityItem, ...ActivityItem[]]
  /** The number of changed entries, with those of large commits that the feed does not list. */
  readonly count: number
  /** The deepest folder that all of them are in. */
  readonly folder: string
}

interface ActivityDay {
  /** Local date, such as `2026-11-15`. */
  readonly day: string
  readonly groups: readonly ActivityGroup[]
}

/** A group while later rows of the feed may belong to it. */
interface OpenGroup {
  readonly items: [ActivityItem, ...ActivityItem[]]
  readonly paths: Set<string>
  folder: string
  unlisted: number
  /** The time of its earliest activity, in milliseconds. */
  since: number
}

/** Equal operations of one person form a group while each follows the one before within this time, also if others are in between. */
const TOGETHER_MS = 5 * 60_000
const FOLDABLE: ReadonlySet<string> = new Set(['create', 'delete', 'edit', 'rename', 'move', 'recover'])

/** Groups the rows of the feed, newest first, by day and operation. */
export function groupByDay(items: readonly ActivityItem[]): ActivityDay[] {
  const days: { day: string; groups: OpenGroup[] }[] = []
  const open = new Map<string, OpenGroup>()
  for (const item of items) {
    const time = Date.parse(item.time)
    const day = dayOf(new Date(item.time))
    if (days.at(-1)?.day !== day) {
      days.push({ day, groups: [] })
      open.clear()
    }
    const key = groupKey(item)
    const known = open.get(key)
    if (known !== undefined && isFoldable(item) && known.since - time < TOGETHER_MS) extend(known, item, time)
    else {
      const group = groupOf(item, time)
      open.set(key, group)
      days.at(-1)?.groups.push(group)
    }
  }
  return days.map(({ day, groups }) => ({
    day,
    groups: groups.map(({ items, folder, unlisted }) => ({ items, folder, count: items.length + unlisted })),
  }))
}

function groupOf(item: ActivityItem, since: number): OpenGroup {
  return {
    items: [item],
    paths: new Set([item.path]),
    folder: parentOf(item.path),
    unlisted: item.unlisted ?? 0,
    since,
  }
}

function extend(group: OpenGroup, item: ActivityItem, time: number): void {
  group.since = time
  group.unlisted += item.unlisted ?? 0
  if (group.paths.has(item.path)) return
  group.paths.add(item.path)
  group.items.push(item)
  while (group.folder !== '/' && !item.path.startsWith(`${group.folder}/`))
    group.folder = parentOf(group.folder)
}

function groupKey(item: ActivityItem): string {
  return [item.op_type, item.obj_type, item.repo_id, item.author_email, item.via_link ?? false].join('\n')
}

function isFoldable(item: ActivityItem): boolean {
  return FOLDABLE.has(item.op_type) && item.obj_type !== 'repo'
}

export function dayOf(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
