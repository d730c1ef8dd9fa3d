import type { ActivityItem } from '../api/index.ts'

const WRITES = new Set(['create', 'edit', 'rename', 'move', 'recover'])

/** Files of an activity feed, latest first, each once. Files that were deleted or renamed later are left out. */
export function recentFiles(feed: readonly ActivityItem[]): readonly ActivityItem[] {
  const settled = new Set<string>()
  const files: ActivityItem[] = []
  for (const item of feed) {
    const key = `${item.repo_id} ${item.path}`
    if (item.old_path !== undefined && item.op_type !== 'create')
      settled.add(`${item.repo_id} ${item.old_path}`)
    if (item.obj_type !== 'file' || settled.has(key)) continue
    settled.add(key)
    if (WRITES.has(item.op_type)) files.push(item)
  }
  return files
}
