import type { Transaction } from '../database/database.ts'
import { type LibraryPath, selfAndAbove, withSlash } from '../objects/paths.ts'
import { pathKey } from './path-key.ts'
import { inOrigin, type Scope } from './scope.ts'

/** The tables whose rows are bound to a path and follow it through renames and moves. */
const FOLLOWING = ['file_lock', 'star', 'smart_link', 'sub_library'] as const
/** Those whose rows go when what they are bound to is deleted. */
const GOING = ['file_lock', 'sub_library'] as const

/** Something that was at one path and is now at another. */
export interface Moved {
  readonly from: LibraryPath
  /** Where it is now. */
  readonly path: LibraryPath
}

/** Moves what is bound to `from`, and to paths below it, along to `to`; part of the commit that moves them. */
export async function followMove(
  tx: Transaction,
  library: Scope,
  from: LibraryPath,
  to: LibraryPath,
): Promise<void> {
  await followMoves(tx, library, [{ from, path: to }])
}

/** As followMove, for many at once. */
export async function followMoves(tx: Transaction, library: Scope, moves: readonly Moved[]): Promise<void> {
  const { key: libraryKey } = library
  const targets = new Map(moves.map(({ from, path }) => [inOrigin(library, from), inOrigin(library, path)]))
  for (const table of FOLLOWING) {
    for (const { path, root } of await boundPaths(tx, table, libraryKey, targets)) {
      const moved = `${targets.get(root)}${path.slice(root.length)}` as LibraryPath
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

/** Drops the locks and sub-libraries at and below paths that were deleted. */
export async function dropBound(
  tx: Transaction,
  library: Scope,
  paths: readonly LibraryPath[],
): Promise<void> {
  const gone = new Set(paths.map((path) => inOrigin(library, path)))
  for (const table of GOING) {
    for (const { path } of await boundPaths(tx, table, library.key, gone)) {
      await tx.run(`delete from ${table} where library_key = ? and path_key = ?`, library.key, pathKey(path))
    }
  }
}

/** The paths of a table at and below some roots, each with the root it belongs to. */
async function boundPaths(
  tx: Transaction,
  table: (typeof FOLLOWING)[number],
  libraryKey: number,
  roots: { readonly size: number; has(path: LibraryPath): boolean; keys(): Iterator<LibraryPath> },
): Promise<{ path: LibraryPath; root: LibraryPath }[]> {
  // One root is looked for by the database; for many, one pass over all that is bound is cheaper.
  const only = roots.size === 1 ? roots.keys().next().value : undefined
  const below = only === undefined ? '' : withSlash(only)
  const rows = await tx.all<{ path: string }>(
    `select distinct path from ${table}
     where library_key = ? and (path = ? or substr(path, 1, ?) = ?)`,
    libraryKey,
    only ?? '',
    Array.from(below).length,
    below,
  )
  return rows.flatMap((row) => {
    const path = row.path as LibraryPath
    const root = selfAndAbove(path).find((one) => roots.has(one))
    return root === undefined ? [] : [{ path, root }]
  })
}
