import { compareNames, type Dir, type Dirent } from '../objects/index.ts'
import type { TimeSlicer } from '../scheduling/index.ts'

// How often a loop over entries looks at the clock.
const ENTRIES_A_LOOK = 256

/** A name that two versions of a dir differ at, by anything. */
export interface EntryChange {
  readonly name: string
  readonly before: Dirent | undefined
  readonly after: Dirent | undefined
}

/** What makes one dir out of another: an entry for each name set, null for each removed; and the entries that go. */
export async function changedEntries(
  before: Dir,
  after: Dir,
  pace: TimeSlicer,
): Promise<{ changes: Map<string, Dirent | null>; old: Dirent[] }> {
  const changes = new Map<string, Dirent | null>()
  const old: Dirent[] = []
  for (const batch of changeBatches(before, after)) {
    for (const change of batch) {
      changes.set(change.name, change.after ?? null)
      if (change.before !== undefined) old.push(change.before)
    }
    if (pace.isDue) await pace.rest()
  }
  return { changes, old }
}

/** Where two dirs differ, by descending name, a few entries at a time, so that the caller can yield in between. */
export function* changeBatches(before: Dir, after: Dir): Generator<EntryChange[], void> {
  const olds = before.entries
  const news = after.entries
  let i = 0
  let j = 0
  while (i < olds.length || j < news.length) {
    const batch: EntryChange[] = []
    for (let n = 0; n < ENTRIES_A_LOOK && (i < olds.length || j < news.length); n++) {
      const old = olds[i]
      const entry = news[j]
      // Entries are in descending order of their names.
      const order = old === undefined ? -1 : entry === undefined ? 1 : compareNames(old.name, entry.name)
      if (order > 0 && old !== undefined) {
        batch.push({ name: old.name, before: old, after: undefined })
        i++
      } else if (order < 0 && entry !== undefined) {
        batch.push({ name: entry.name, before: undefined, after: entry })
        j++
      } else if (old !== undefined && entry !== undefined) {
        if (!isSame(old, entry)) batch.push({ name: entry.name, before: old, after: entry })
        i++
        j++
      }
    }
    yield batch
  }
}

function isSame(a: Dirent, b: Dirent): boolean {
  if (a === b) return true
  return (
    a.kind === b.kind &&
    a.id === b.id &&
    a.mode === b.mode &&
    a.mtime === b.mtime &&
    a.size === b.size &&
    a.modifier === b.modifier
  )
}
