import { TimeSlicer } from '../../base/scheduling/index.ts'
import { condemnedBlocks } from '../../libraries/content/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { idsIn, markOptions } from './collect-library.ts'
import { findCollected } from './collection-store.ts'
import { IdTable } from './id-table.ts'
import { mark } from './mark.ts'

/** References of libraries to blocks that nothing in a snapshot reaches. */
export class GarbageReferences {
  readonly #byLibrary = new Map<number, IdTable>()

  /**
   * Finds the condemned references in a snapshot of the database that are garbage there. A condemned row alone proves nothing: a commit that came
   * between a mark and the write of its results may reach the block, until the next collection releases it. So every library with condemned
   * references is marked again in the snapshot. All references of a damaged library are kept.
   */
  static async find(snapshot: Reader, now: number): Promise<GarbageReferences> {
    const garbage = new GarbageReferences()
    for (const key of await condemnedBlocks.listLibraryKeys(snapshot)) {
      try {
        garbage.#byLibrary.set(key, await findInLibrary(snapshot, key, now))
      } catch {
        // To keep all references is always right. A connection that failed throws again when the rows are read.
      }
    }
    return garbage
  }

  has(libraryKey: number, blockId: Uint8Array): boolean {
    return this.#byLibrary.get(libraryKey)?.has(blockId) ?? false
  }
}

async function findInLibrary(snapshot: Reader, key: number, now: number): Promise<IdTable> {
  const ids = new IdTable()
  const collected = await findCollected(snapshot, key)
  if (collected === undefined) return ids
  // History that is given up cannot be shown any more, so its commits need no blocks.
  const options = await markOptions(snapshot, key, { keptSeq: collected.keptSeq, now })
  const marked = await mark(snapshot, options, new TimeSlicer())
  for (const id of idsIn(marked?.deletableReferences ?? new Uint8Array(0))) ids.add(id)
  return ids
}
