import type { LibraryId } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import { inOrigin, libraryHeads, originOf } from '../../libraries/registry/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Access } from '../../sharing/access/index.ts'
import { putAnnotatedFile } from './annotated-file-store.ts'

// A library that is written to all the time must not starve an annotation.
const ATTEMPTS = 5

/** A file to annotate, by the library or sub-library through which the user sees it. */
export interface FileOf {
  readonly user: Account
  readonly libraryId: LibraryId
  readonly path: LibraryPath
}

/** Several files of one library. */
export type FilesOf = Omit<FileOf, 'path'> & { readonly paths: readonly LibraryPath[] }

/**
 * Writes rows of a file. The head is locked, so that the file is not moved between looking it up and binding rows to its
 * path. `prepare` checks the right and runs again after a concurrent commit. Throws library-not-found,
 * permission-denied, path-not-found.
 */
export async function writeBound<T>(
  { db, access }: { readonly db: Database; readonly access: Access },
  { user, libraryId, path }: FileOf,
  prepare: (
    library: Library,
    place: LibraryPath,
  ) => Promise<(tx: Transaction, fileKey: number) => Promise<T>>,
): Promise<T> {
  return writeBoundAll({ db, access }, { user, libraryId, paths: [path] }, async (library) => {
    const place = inOrigin(library.info, path)
    const write = await prepare(library, place)
    return async (tx) => write(tx, await putAnnotatedFile(tx, library.info.key, place))
  })
}

/** As writeBound for several files, in one transaction. It looks up their rows itself. */
export async function writeBoundAll<T>(
  { db, access }: { readonly db: Database; readonly access: Access },
  { user, libraryId, paths }: FilesOf,
  prepare: (library: Library) => Promise<(tx: Transaction) => Promise<T>>,
): Promise<T> {
  const slicer = new TimeSlicer()
  for (let attempt = 1; ; attempt++) {
    const library = await access.open(user, libraryId)
    const { info } = library
    for (const path of paths) {
      if (slicer.isDue) await slicer.rest()
      await library.tree.getFile(path)
    }
    const write = await prepare(library)
    const written = await db.write(async (tx) => {
      const isHeld = await libraryHeads.hold(tx, info.key, originOf(info).head)
      if (!isHeld && attempt < ATTEMPTS) return undefined
      return { result: await write(tx) }
    })
    if (written !== undefined) return written.result
  }
}
