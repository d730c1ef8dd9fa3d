import type { Dirent } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import { type Change, inOrder, isSameFile } from './diff.ts'
import type { StoredDir } from './dir-cache.ts'

// Larger change lists are not cached, so that an edit of a whole tree does not stay in memory (I9).
const MAX_CHANGES = 1000

/** A dir of an edited tree: its state before the edit and its changes. */
interface EditedDir {
  readonly stored: StoredDir
  readonly changes: ReadonlyMap<string, Dirent | null>
  readonly children: ReadonlyMap<string, EditedDir>
}

/**
 * The result of `diffTrees` with `withFolders` for a tree before and after an edit, in time proportional to the edit. Undefined
 * if the edit alone does not determine it, or if there are too many changes.
 */
export async function changesOf(root: EditedDir): Promise<Change[] | undefined> {
  const changes: Change[] = []
  const open: [path: LibraryPath, dir: EditedDir, change: Change | undefined][] = [[ROOT, root, undefined]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, dir, change] = next
    const found = changes.length + open.length
    if (changes.length + dir.changes.size > MAX_CHANGES) return undefined
    for (const [name, entry] of dir.changes) {
      const before = dir.stored.dir.find(name)
      if (before?.kind === 'dir' && entry?.kind === 'dir' && before.id !== entry.id) {
        const child = dir.children.get(name)
        // The edit replaced the dir by another one.
        if (child?.stored.dir.id !== before.id) return undefined
        const inside = joinPath(path, name)
        open.push([inside, child, { op: 'modified', path: inside, entry, before }])
      } else addChange(changes, joinPath(path, name), before, entry)
    }
    // The folder is listed if nothing in it is, as in `diffTrees`.
    if (changes.length + open.length === found && change !== undefined) changes.push(change)
  }
  return inOrder(changes)
}

function addChange(
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
