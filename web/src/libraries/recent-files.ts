import type { ActivityItem, OpenedPlace } from '../api/index.ts'

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

/** A file that the user opened or changed. */
export interface RecentFile {
  readonly libraryId: string
  readonly path: string
  /** ISO. */
  readonly at: string
  readonly act: 'opened' | 'changed'
}

/** Files opened in this browser and files of the user's activities, latest first, each once. */
export function mergeRecent(
  opened: readonly OpenedPlace[],
  changed: readonly ActivityItem[],
): readonly RecentFile[] {
  const files: RecentFile[] = [
    ...changed.map(({ repo_id, path, time }) => ({
      libraryId: repo_id,
      path,
      at: time,
      act: 'changed' as const,
    })),
    ...opened
      .filter(({ isDir, at }) => !isDir && at !== '')
      .map(({ libraryId, path, at }) => ({ libraryId, path, at, act: 'opened' as const })),
  ]
  const seen = new Set<string>()
  return files
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .filter(({ libraryId, path }) => {
      const key = `${libraryId} ${path}`
      return !seen.has(key) && seen.add(key)
    })
}
