import type { Entry, Folder } from './entries.ts'

/** Structural sharing: entries that did not change stay the same objects, so that their rows are not rendered again. */
export function reuseEntries(old: Folder | undefined, fresh: Folder): Folder {
  if (old === undefined || old === fresh) return fresh
  const known = new Map(old.dirent_list.map((entry) => [entry.name, entry]))
  const entries = fresh.dirent_list.map((entry) => {
    const before = known.get(entry.name)
    return before !== undefined && isSameEntry(before, entry) ? before : entry
  })
  const same =
    entries.length === old.dirent_list.length && entries.every((entry, n) => entry === old.dirent_list[n])
  return same && old.user_perm === fresh.user_perm && old.dir_id === fresh.dir_id
    ? old
    : { ...fresh, dirent_list: entries }
}

function isSameEntry(one: Entry, other: Entry): boolean {
  return (
    one.id === other.id &&
    one.type === other.type &&
    one.mtime === other.mtime &&
    one.size === other.size &&
    one.permission === other.permission &&
    one.starred === other.starred &&
    one.modifier_name === other.modifier_name &&
    one.lock_owner === other.lock_owner &&
    one.lock_time === other.lock_time &&
    hasSameTags(one, other)
  )
}

function hasSameTags({ file_tags: one }: Entry, { file_tags: other }: Entry): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
