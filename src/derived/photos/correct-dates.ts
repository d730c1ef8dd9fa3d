import { fail, refuseAtLimit } from '../../base/errors.ts'
import type { FileId } from '../../base/objects/index.ts'
import { type LibraryPath, parentOf } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import { inOrigin } from '../../libraries/registry/index.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  countCorrectedDates,
  deleteCorrectedDate,
  findCorrectedDates,
  putCorrectedDate,
} from './photo-date-store.ts'
import { photoKindOf } from './photo-kinds.ts'
import { dateAgain } from './photo-store.ts'

/** The date that a photo is to have. */
export interface DateChange {
  readonly library: Library
  readonly path: LibraryPath
  /** Local time as seconds since 1970; undefined for the date in the file. */
  readonly takenAt: number | undefined
}

interface StoredChange {
  readonly path: LibraryPath
  readonly fileId: FileId
  readonly takenAt: number | undefined
}

/**
 * Corrects the dates of photos, all or none, in one transaction. The files are not changed. Resolves to the earlier corrections in the same order, which undo it when
 * they are sent back. Throws path-not-found, permission-denied without the right to write, limit-reached.
 */
export async function correctDates(
  db: Database,
  changes: readonly DateChange[],
): Promise<(number | undefined)[]> {
  const stored = new Map<number, StoredChange[]>()
  const slicer = new TimeSlicer()
  const places: [libraryKey: number, path: LibraryPath][] = []
  for (const { library, path, takenAt } of changes) {
    if (slicer.isDue) await slicer.rest()
    const entry = await library.tree.find(path)
    if (entry?.kind !== 'file' || photoKindOf(entry) === undefined)
      return fail({ code: 'path-not-found', path, wanted: 'File' })
    if (library.info.encryption !== undefined) fail({ code: 'permission-denied' })
    library.editable(parentOf(path))
    const { key } = library.info
    const origin = inOrigin(library.info, path)
    places.push([key, origin])
    const known = stored.get(key) ?? []
    known.push({ path: origin, fileId: entry.id, takenAt })
    stored.set(key, known)
  }
  const before = await db.write(async (tx) => {
    const earlier = new Map<string, number>()
    // Sorted, so that transactions lock rows in one order.
    for (const [key, some] of [...stored].sort(([a], [b]) => a - b)) {
      const paths = some.map(({ path }) => path)
      for (const { path, takenAt } of (await findCorrectedDates(tx, key, paths)).values())
        earlier.set(`${key} ${path}`, takenAt)
      for (const { path, fileId, takenAt } of some.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
        if (takenAt === undefined) await deleteCorrectedDate(tx, key, path)
        else await putCorrectedDate(tx, key, { path, fileId, takenAt })
      }
      await refuseAtLimit('photo-dates', async (most) => (await countCorrectedDates(tx, key, most + 1)) - 1)
      await dateAgain(tx, key, some)
    }
    return earlier
  })
  return places.map(([key, path]) => before.get(`${key} ${path}`))
}
