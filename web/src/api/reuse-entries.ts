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

/** The folder as the server sent it last, without changes that were made here before the server confirmed them. */
export function confirmedFolder(folder: Folder): Folder {
  const { dirent_list: entries, confirmed } = folder
  return confirmed === undefined || confirmed.entries === entries
    ? folder
    : { ...folder, dirent_list: confirmed.entries }
}

/** A folder that was fetched, with its entity tag. */
export function withTag(folder: Folder, tag: string | undefined): Folder {
  const { confirmed: _, ...rest } = folder
  return tag === undefined ? rest : { ...rest, confirmed: { entries: folder.dirent_list, tag } }
}

/** Structural sharing of a folder that was fetched or updated optimistically. */
export function shareEntries(old: Folder | undefined, fresh: Folder): Folder {
  const shared = reuseEntries(old, fresh)
  const { confirmed } = fresh
  // Also called for optimistic updates, which the server has not confirmed: those keep what it sent last.
  const isOptimistic = confirmed !== undefined && confirmed.entries !== fresh.dirent_list
  if (isOptimistic) return shared.confirmed === confirmed ? shared : { ...shared, confirmed }
  const { confirmed: known, dirent_list: entries } = shared
  const isTagged = known?.tag === confirmed?.tag && (known === undefined || known.entries === entries)
  return isTagged ? shared : withTag(shared, confirmed?.tag)
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
    one.modifier_via_link === other.modifier_via_link &&
    one.lock_owner === other.lock_owner &&
    one.lock_time === other.lock_time &&
    hasSameTags(one, other)
  )
}

function hasSameTags({ file_tags: one }: Entry, { file_tags: other }: Entry): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
