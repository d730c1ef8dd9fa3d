import type { Transaction } from '../database/database.ts'
import { isWithin, type LibraryPath, withSlash } from '../objects/paths.ts'
import { pathKey } from './path-key.ts'

/** The tables whose rows are bound to a path and follow it through renames and moves. */
const FOLLOWING = ['file_lock', 'star', 'smart_link'] as const

/** Moves what is bound to `from`, and to paths below it, along to `to`; part of the commit that moves them. */
export async function followMove(
  tx: Transaction,
  libraryKey: number,
  from: LibraryPath,
  to: LibraryPath,
): Promise<void> {
  for (const table of FOLLOWING) {
    for (const path of await boundPaths(tx, table, libraryKey, from)) {
      const moved = (to + path.slice(from.length)) as LibraryPath
      // Whatever was bound to the new path before was bound to something that is gone.
      await tx.run(`delete from ${table} where library_key = ? and path_key = ?`, libraryKey, pathKey(moved))
      await tx.run(
        `update ${table} set path = ?, path_key = ? where library_key = ? and path_key = ?`,
        moved,
        pathKey(moved),
        libraryKey,
        pathKey(path),
      )
    }
  }
}

/** Drops the locks at and below a path that was deleted. */
export async function dropLocks(tx: Transaction, libraryKey: number, path: LibraryPath): Promise<void> {
  for (const locked of await boundPaths(tx, 'file_lock', libraryKey, path)) {
    await tx.run('delete from file_lock where library_key = ? and path_key = ?', libraryKey, pathKey(locked))
  }
}

async function boundPaths(
  tx: Transaction,
  table: (typeof FOLLOWING)[number],
  libraryKey: number,
  from: LibraryPath,
): Promise<LibraryPath[]> {
  const below = withSlash(from)
  const rows = await tx.all<{ path: string }>(
    `select distinct path from ${table} where library_key = ? and (path = ? or substr(path, 1, ?) = ?)`,
    libraryKey,
    from,
    Array.from(below).length,
    below,
  )
  return rows.map((row) => row.path as LibraryPath).filter((path) => isWithin(path, from))
}
