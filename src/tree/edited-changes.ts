import { type Dirent, joinPath, type LibraryPath, ROOT } from '../objects/index.ts'
import { type Change, inOrder, isSameFile } from './diff.ts'
import type { StoredDir } from './dir-cache.ts'

// Larger change lists are not cached: an edit of a whole tree is not held in memory (I9).
const MOST_CHANGES = 1000

/** A dir of a tree that was edited: what it was, and what differs now. */
export interface EditedDir {
  readonly stored: StoredDir
  readonly changes: ReadonlyMap<string, Dirent | null>
  readonly children: ReadonlyMap<string, EditedDir>
}

/**
 * What `diffTrees` would find between a tree and what an edit made of it, `withFolders`, in time proportional to the
 * edit. Undefined where that cannot be told from the edit alone, or is much.
 */
export async function changesOf(root: EditedDir): Promise<Change[] | undefined> {
  const changes: Change[] = []
  const open: [path: LibraryPath, dir: EditedDir][] = [[ROOT, root]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, dir] = next
    if (changes.length + dir.changes.size > MOST_CHANGES) return undefined
    for (const [name, entry] of dir.changes) {
      const before = dir.stored.dir.find(name)
      if (before?.kind === 'dir' && entry?.kind === 'dir' && before.id !== entry.id) {
        const child = dir.children.get(name)
        // Another dir was put in its place.
        if (child?.stored.dir.id !== before.id) return undefined
        open.push([joinPath(path, name), child])
      }
      note(changes, joinPath(path, name), before, entry)
    }
  }
  return inOrder(changes)
}

function note(
  changes: Change[],
  path: LibraryPath,
  before: Dirent | undefined,
  entry: Dirent | null | undefined,
): void {
  if (before === entry) return
  if (before === undefined) {
    if (entry) changes.push({ op: 'added', path, entry })
  } else if (!entry) {
    changes.push({ op: 'deleted', path, entry: before })
  } else if (before.kind !== entry.kind) {
    changes.push({ op: 'deleted', path, entry: before }, { op: 'added', path, entry })
  } else if (before.kind === 'dir' ? before.mtime !== entry.mtime : !isSameFile(before, entry)) {
    changes.push({ op: 'modified', path, entry, before })
  }
}
