import type { Entry, Folder } from './entries.ts'

/** The changes of a listing since another, in place of all entries. */
export interface FolderChanges extends Folder {
  readonly since?: string
  /** The names of entries that are gone. */
  readonly removed?: readonly string[]
}

/** The whole folder, for a response that has only what changed since `known`. */
export function applyChanges(known: Folder | undefined, { since, removed, ...sent }: FolderChanges): Folder {
  if (known === undefined || since === undefined || since !== known.dir_id) return sent
  const changed = new Map(sent.dirent_list.map((entry) => [entry.name, entry]))
  const gone = new Set(removed)
  const entries: Entry[] = []
  for (const entry of known.dirent_list) {
    const fresh = changed.get(entry.name)
    changed.delete(entry.name)
    if (!gone.has(entry.name)) entries.push(fresh ?? entry)
  }
  return { ...sent, dirent_list: [...entries, ...changed.values()] }
}
