import type { Reader, Transaction } from '../database/index.ts'
import { type LibraryPath, pathKey } from '../objects/index.ts'

/** Rows of one table that are bound to paths of libraries and follow the items there through renames and moves. */
export interface PathBinding {
  /** Selects the column `path` of the rows of a library. Its only parameter is the key of the library. */
  readonly paths: string
  /** Binds the rows at `from` to `to`. Rows that were at `to` belonged to an item that is gone. */
  move(tx: Transaction, libraryKey: number, from: LibraryPath, to: LibraryPath): Promise<void>
  /**
   * Called when the item at the path was deleted. If omitted, rows stay for an item that is restored there.
   */
  drop?(tx: Transaction, libraryKey: number, path: LibraryPath): Promise<void>
  /** The bound items of a library. Those that a revert removes are dropped. */
  listItems?(reader: Reader, libraryKey: number): Promise<{ path: LibraryPath; isDir: boolean }[]>
}

/** The binding of a table with one row per path and the columns `library_key`, `path` and `path_key`. */
export function tableBinding(table: string, { endsWithItem }: { endsWithItem: boolean }): PathBinding {
  const at = 'library_key = ? and path_key = ?'
  return {
    paths: `select path from ${table} where library_key = ?`,
    async move(tx, libraryKey, from, to) {
      const [fromKey, toKey] = [pathKey(from), pathKey(to)]
      await tx.run(
        `delete from ${table} where ${at}
           and exists (select 1 from ${table} other where other.library_key = ? and other.path_key = ?)`,
        libraryKey,
        toKey,
        libraryKey,
        fromKey,
      )
      await tx.run(`update ${table} set path = ?, path_key = ? where ${at}`, to, toKey, libraryKey, fromKey)
    },
    ...(endsWithItem && {
      async drop(tx: Transaction, libraryKey: number, path: LibraryPath) {
        await tx.run(`delete from ${table} where ${at}`, libraryKey, pathKey(path))
      },
    }),
  }
}
