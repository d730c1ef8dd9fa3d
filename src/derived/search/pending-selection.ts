import { takeTurns } from '../../base/scheduling/index.ts'
import { libraryRows } from '../../libraries/registry/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { listPendingLibraries, listPendingOf, type PendingText } from './text-store.ts'

const MAX_LIBRARIES = 1000

/** A file whose text is to be extracted, and the account that pays for it. */
export interface SelectedText {
  readonly pending: PendingText
  /** Undefined if the library is gone. */
  readonly ownerKey: number | undefined
}

/**
 * Selects the next files for extraction. Round-robin over owners, then over their libraries, so that a million documents in one
 * library delay the only one of another account by one round. Within a library, oldest and latest files alternate.
 */
export class PendingSelection {
  readonly #db: Database
  readonly #coreDb: Database
  /** Where the previous round stopped, if there were more libraries. */
  #after = 0

  constructor(db: Database, coreDb: Database) {
    this.#db = db
    this.#coreDb = coreDb
  }

  /** Up to `count` files due `now`, in round-robin order. */
  async next(now: number, count: number): Promise<SelectedText[]> {
    const libraries = await this.#libraries(now)
    const owners = await libraryRows.findOwnerKeys(this.#coreDb, libraries)
    const byOwner = Map.groupBy(libraries, (key) => owners.get(key))
    const share = Math.ceil(count / Math.max(byOwner.size, 1))
    const lists: SelectedText[][] = []
    for (const [ownerKey, keys] of byOwner) {
      const perLibrary = Math.ceil(share / keys.length)
      const files: PendingText[][] = []
      for (const key of keys.slice(0, share)) files.push(await listPendingOf(this.#db, now, key, perLibrary))
      lists.push(takeTurns(files, count).map((pending) => ({ pending, ownerKey })))
    }
    return takeTurns(lists, count)
  }

  async #libraries(now: number): Promise<number[]> {
    const after = this.#after
    const found = await listPendingLibraries(this.#db, now, after, MAX_LIBRARIES)
    this.#after = found.length < MAX_LIBRARIES ? 0 : (found.at(-1) ?? 0)
    if (after === 0 || found.length === MAX_LIBRARIES) return found
    const first = await listPendingLibraries(this.#db, now, 0, MAX_LIBRARIES - found.length)
    return [...new Set([...found, ...first])]
  }
}
