import { type DirId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import type { LibraryDependent } from '../../libraries/registry/index.ts'
import type { Database, Reader } from '../../platform/database/index.ts'
import type { ObjectFault } from './tree-check.ts'

const ID_BYTES = 20

/** Progress of a pass within a library: completely checked subtrees by their root dir, and the faults in them. */
export interface TreeProgress {
  readonly dirs: readonly DirId[]
  readonly faults: readonly (readonly [object: string, fault: ObjectFault])[]
  /** Objects looked at. */
  readonly objects: number
}

export async function insertProgress(
  db: Database,
  pass: number,
  libraryKey: number,
  { dirs, faults, objects }: TreeProgress,
): Promise<void> {
  const columns = ['pass_key', 'library_key', 'dirs', 'faults', 'objects']
  const row = [pass, libraryKey, Buffer.concat(dirs.map(idToBytes)), JSON.stringify(faults), objects]
  await db.write((tx) => tx.insert('check_progress', columns, [row]), { durable: false })
}

/** Everything that was stored of a library, in order. */
export async function listProgress(
  reader: Reader,
  pass: number,
  libraryKey: number,
): Promise<TreeProgress[]> {
  const rows = await reader.all<{ dirs: Uint8Array; faults: string; objects: number }>(
    'select dirs, faults, objects from check_progress where pass_key = ? and library_key = ? order by key',
    pass,
    libraryKey,
  )
  return rows.map(({ dirs, faults, objects }) => ({
    dirs: Array.from({ length: dirs.length / ID_BYTES }, (_, at) =>
      idFromBytes<DirId>(dirs.subarray(at * ID_BYTES, (at + 1) * ID_BYTES)),
    ),
    faults: JSON.parse(faults) as TreeProgress['faults'],
    objects,
  }))
}

/** The progress of checks in a library that is purged. Their findings stay until the next pass replaces them. */
export const checkRows: LibraryDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from checked_library where library_key = ?', libraryKey)
    await tx.run('delete from check_progress where library_key = ?', libraryKey)
  },
}
