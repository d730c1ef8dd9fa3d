import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import { Tree } from '../../libraries/tree/index.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type AnnotatedFile,
  deleteMissingBefore,
  listAnnotatedFiles,
  setMissingSince,
} from './annotated-file-store.ts'

/** Annotations of a deleted file are kept this long, for the case that it is restored. */
const MISSING_KEPT_SECONDS = 90 * 86_400
const FILES_PER_STEP = 500

/**
 * Maintenance: notes when annotated files were found to be gone, and deletes the annotations of those that are gone for 90
 * days. Returns the number of files whose annotations were deleted.
 */
export async function deleteMissingFiles(
  { db, core, now }: { db: Database; core: LibraryCore; now: () => number },
  signal: AbortSignal,
): Promise<number> {
  let last = 0
  for (;;) {
    const files = await listAnnotatedFiles(db, last, FILES_PER_STEP)
    const at = files.at(-1)
    if (at === undefined) break
    last = at.key
    for (const file of files) {
      if (signal.aborted) return 0
      const isNoted = (file.missingSince ?? 0) > 0
      if (isNoted || (file.missingSince === undefined && !(await isGone(core, db, file)))) continue
      await db.write((tx) => setMissingSince(tx, file, now()), { durable: false })
    }
  }
  return db.write((tx) => deleteMissingBefore(tx, now() - MISSING_KEPT_SECONDS))
}

/** False for a deleted library, whose annotations end with it. */
async function isGone(
  core: LibraryCore,
  db: Database,
  { libraryKey, path }: AnnotatedFile,
): Promise<boolean> {
  const library = await libraryRows.findByKey(db, libraryKey)
  if (library === undefined) return false
  return (await new Tree(storesOf(core).objects, libraryKey, library.root).find(path))?.kind !== 'file'
}
