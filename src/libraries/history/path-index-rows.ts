import type { LibraryPath } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { NumberedCommit } from '../commits/index.ts'
import type { Change } from '../tree/index.ts'
import type { EditRow, OriginRow } from './file-history-store.ts'
import type { FirstSeenRow } from './path-index-store.ts'
import type { TrashRow } from './trash-store.ts'

/** The rows that a range of commits adds to the index. */
export class IndexRows {
  /** By path. Of several deletions the latest is shown. */
  readonly trash = new Map<LibraryPath, TrashRow>()
  readonly firstSeen: FirstSeenRow[] = []
  readonly origins: OriginRow[] = []
  readonly edits: EditRow[] = []
  /** Paths with additions or deletions, where `present` of older trash rows may have changed. */
  readonly touched = new Set<LibraryPath>()
  readonly touchedFolders = new Set<LibraryPath>()

  get count(): number {
    return this.trash.size + this.firstSeen.length + this.origins.length + this.edits.length
  }

  /** Adds the changes of a commit. Without a commit before it, deletions are ignored. */
  async add(
    changes: readonly Change[],
    commit: NumberedCommit,
    before: NumberedCommit | undefined,
  ): Promise<void> {
    const slicer = new TimeSlicer()
    const author = commit.creatorName ?? ''
    const viaLink = commit.viaLink === true
    const { seq, ctime } = commit
    let position = 0
    for (const change of changes) {
      if (slicer.isDue) await slicer.rest()
      const { entry } = change
      if (change.op === 'modified') {
        // A new mtime or mode with the same content is not a revision.
        if (entry.kind === 'file' && entry.id !== change.before.id) {
          this.edits.push({ path: change.path, seq, objectId: entry.id, size: entry.size })
        }
        continue
      }
      this.#touch(change.path, entry.kind)
      if (change.op === 'deleted') {
        if (before === undefined) continue
        position++
        this.trash.set(change.path, {
          path: change.path,
          isDir: entry.kind === 'dir',
          objectId: entry.id,
          size: entry.size,
          deletedAt: ctime,
          deletedBy: author,
          seq,
          position,
          commitBefore: before.id,
        })
        continue
      }
      const path = change.op === 'renamed' ? change.newPath : change.path
      this.#touch(path, entry.kind)
      const oldPath = change.op === 'renamed' ? change.path : undefined
      this.firstSeen.push({ path, author, viaLink, ...(oldPath && { oldPath }), addedAt: ctime })
      this.origins.push({
        path,
        seq,
        oldPath,
        content: entry.kind === 'file' ? { objectId: entry.id, size: entry.size } : undefined,
      })
    }
  }

  #touch(path: LibraryPath, kind: 'file' | 'dir'): void {
    this.touched.add(path)
    if (kind === 'dir') this.touchedFolders.add(path)
  }
}
