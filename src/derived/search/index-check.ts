import { type DirId, EMPTY_ID } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import { entriesOnce, type ObjectStore } from '../../libraries/tree/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { findEntriesIn } from './entry-store.ts'
import { rootKeyOf } from './keys.ts'
import { findPosition } from './position-store.ts'
import { findTextStates } from './text-store.ts'

/** A part of the search index that is not as the head of a library says. */
export interface SearchFault {
  readonly path: LibraryPath
  readonly reason: string
}

interface CheckParts {
  readonly libraryDb: Database
  readonly db: Database
  readonly objects: ObjectStore
  /** Whether the text of a file with this name is indexed. */
  readonly isExtractable: (name: string) => boolean
}

/**
 * Compares the indexed entries of a library with its head, and yields those that differ. Of texts it compares whose content they are, because extracting them
 * again would take hours. Nothing is compared while the index lags behind, and nothing that differs counts once the index has gone on to a later commit.
 */
export async function* findSearchFaults(
  parts: CheckParts,
  library: LibraryInfo,
): AsyncGenerator<SearchFault, void> {
  const { libraryDb, db } = parts
  const position = await findPosition(db, library.key)
  if (position === undefined || position.claim !== 0 || position.seq < library.headSeq) return
  if (position.seq > library.headSeq) {
    const newest = await libraryRows.findWithDeleted(libraryDb, library.key)
    if (newest === undefined || position.seq <= newest.headSeq) return
  }
  if (position.seq > library.headSeq || position.commitId !== library.head) {
    yield { path: ROOT, reason: `its position is commit ${position.seq}, which the library does not have` }
    return
  }
  for await (const fault of compareEntries(parts, library)) {
    const now = await findPosition(db, library.key)
    if (now?.seq !== position.seq || now.claim !== 0) return
    yield fault
  }
}

async function* compareEntries(
  { libraryDb, db, objects, isExtractable }: CheckParts,
  library: LibraryInfo,
): AsyncGenerator<SearchFault, void> {
  // The server cannot read the content of encrypted libraries.
  const isReadable = library.encryption === undefined
  const open: { id: DirId; key: number; path: LibraryPath }[] = [
    { id: library.root, key: rootKeyOf(library.key), path: ROOT },
  ]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    if (folder.id === EMPTY_ID) continue
    for (const entries of await entriesOnce({ db: libraryDb, objects }, library.key, folder.id)) {
      const indexed = new Map(
        (await findEntriesIn(db, new Map([[folder.key, entries.map(({ name }) => name)]]))).map((entry) => [
          entry.name,
          entry,
        ]),
      )
      const texts = await findTextStates(
        db,
        [...indexed.values()].filter(({ isDir }) => !isDir).map(({ key }) => key),
      )
      for (const entry of entries) {
        const found = indexed.get(entry.name)
        const path = joinPath(folder.path, entry.name)
        if (found === undefined || found.isDir !== (entry.kind === 'dir')) {
          yield { path, reason: 'it is not indexed' }
        } else if (entry.kind === 'dir') {
          open.push({ id: entry.id, key: found.key, path })
        } else if (found.objectId !== entry.id) {
          yield { path, reason: 'other content is indexed' }
        } else if (isReadable && entry.id !== EMPTY_ID && isExtractable(entry.name)) {
          const ids = texts.get(found.key)
          if (ids === undefined) yield { path, reason: 'its text is not indexed' }
          else if (!ids.includes(entry.id)) yield { path, reason: 'the text of other content is indexed' }
        }
      }
    }
  }
}
