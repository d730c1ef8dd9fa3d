import { type LibraryPath, pathKey } from '../../base/paths/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** Rows of one table that are bound to paths of libraries and follow the items there through renames and moves. */
export interface PathBinding {
  /** What the rows are, for reports. */
  readonly rows: string
  /** Selects `path` and `path_key` of the rows of a library. Its only parameter is the key of the library. */
  readonly paths: string
  /** Whether rows are deleted together with the item at their path. */
  readonly endsWithItem: boolean
  /** Repair: derives `path_key` from `path` again, unless another row has the key. */
  rekey(tx: Transaction, libraryKey: number, path: LibraryPath): Promise<void>
  /** Binds the rows at `from` to `to`. Rows that were at `to` belonged to an item that is gone. */
  move(tx: Transaction, libraryKey: number, from: LibraryPath, to: LibraryPath): Promise<void>
  /** Gives the copy of an item the rows of the item. If omitted, a copy has none. */
  copy?(tx: Transaction, from: BoundPath, to: BoundPath): Promise<void>
  /**
   * Called when the item at the path was deleted. If omitted, rows stay for an item that is restored there.
   */
  drop?(tx: Transaction, libraryKey: number, path: LibraryPath): Promise<void>
  /** The bound items of a library. Those that a revert removes are dropped. */
  listItems?(reader: Reader, libraryKey: number): Promise<{ path: LibraryPath; isDir: boolean }[]>
  /** The paths of files that were deleted and whose rows are kept for the case that they are restored. */
  listDeleted?(reader: Reader, libraryKey: number): Promise<LibraryPath[]>
  /** Called when the deleted file at the path was restored. */
  restore?(tx: Transaction, libraryKey: number, path: LibraryPath): Promise<void>
}

/** A path of a stored library. */
interface BoundPath {
  readonly libraryKey: number
  readonly path: LibraryPath
}

/** The binding of a table with one row per path and the columns `library_key`, `path` and `path_key`. `rows` says what they are. */
export function tableBinding(
  table: string,
  { rows, endsWithItem }: { rows: string; endsWithItem: boolean },
): PathBinding {
  const at = 'library_key = ? and path_key = ?'
  return {
    rows,
    paths: `select path, path_key from ${table} where library_key = ?`,
    endsWithItem,
    async rekey(tx, libraryKey, path) {
      await tx.run(
        `update ${table} set path_key = ? where library_key = ? and path = ? and path_key <> ?
           and not exists (select 1 from ${table} other where other.library_key = ? and other.path_key = ?)`,
        pathKey(path),
        libraryKey,
        path,
        pathKey(path),
        libraryKey,
        pathKey(path),
      )
    },
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
