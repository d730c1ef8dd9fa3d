import type { Dir, Dirent } from '../../base/objects/index.ts'
import { compareNames } from '../../base/paths/index.ts'
import type { TimeSlicer } from '../../base/scheduling/index.ts'

// How often a loop over entries checks the clock.
const ENTRIES_PER_CLOCK_CHECK = 256

/** A name at which two versions of a dir differ in any field. */
interface EntryChange {
  readonly name: string
  readonly before: Dirent | undefined
  readonly after: Dirent | undefined
}

/** The delta from one dir to another: an entry for each name set, null for each removed; and the replaced or removed entries. */
export async function changedEntries(
  before: Dir,
  after: Dir,
  slicer: TimeSlicer,
): Promise<{ changes: Map<string, Dirent | null>; old: Dirent[] }> {
  const changes = new Map<string, Dirent | null>()
  const old: Dirent[] = []
  for (const batch of changeBatches(before, after)) {
    for (const change of batch) {
      changes.set(change.name, change.after ?? null)
      if (change.before !== undefined) old.push(change.before)
    }
    if (slicer.isDue) await slicer.rest()
  }
  return { changes, old }
}

/** The differences of two dirs in descending order of names, in batches, so that the caller can yield in between. */
export function* changeBatches(before: Dir, after: Dir): Generator<EntryChange[], void> {
  const olds = before.entries
  const news = after.entries
  let i = 0
  let j = 0
  while (i < olds.length || j < news.length) {
    const batch: EntryChange[] = []
    for (let n = 0; n < ENTRIES_PER_CLOCK_CHECK && (i < olds.length || j < news.length); n++) {
      const old = olds[i]
      const entry = news[j]
      // Entries are in descending order of names.
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
