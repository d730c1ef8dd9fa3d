import type { CommitId, DirId, LibraryId } from '../../base/objects/index.ts'
import { baseOf } from '../registry/index.ts'
import { Tree } from '../tree/index.ts'
import { type LibraryCore, storesOf } from './core.ts'

/** A view as of now, without its content. */
interface ViewHead {
  readonly id: LibraryId
  readonly head: CommitId
  /** Whether an earlier tree of its library has the same content at its path. */
  readonly isAsIn: (root: DirId) => Promise<boolean>
}

/** The heads of those views of a library that somebody watches. It tells that a view changed, and nothing of what is in it. */
export async function viewHeads(
  core: LibraryCore,
  libraryKey: number,
  isWatched: (id: LibraryId) => boolean,
): Promise<ViewHead[]> {
  const { objects, views } = storesOf(core)
  const ids = (await views.listSubLibraries(libraryKey)).map(({ id }) => id).filter(isWatched)
  return (await views.findSubLibraryInfos('id', ids)).map((now) => ({
    id: now.id,
    head: now.head,
    isAsIn: async (root) => (await new Tree(objects, libraryKey, root).find(baseOf(now)))?.id === now.root,
  }))
}
