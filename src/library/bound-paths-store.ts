import { inOrigin, type Scope } from '../commits/index.ts'
import type { Reader, Transaction } from '../database/index.ts'
import { type LibraryPath, pathKey, selfAndAbove, withSlash } from '../objects/index.ts'

/** The tables whose rows are bound to a path and follow it through renames and moves. */
const FOLLOWING = ['file_lock', 'star', 'smart_link', 'sub_library', 'link'] as const
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
      // Whatever was bound to the new path before was bound to something that is gone. A path may have many links,
      // and those of what is gone are bound to none.
      if (table === 'link') await endTickets(tx, libraryKey, path)
      else {
        await tx.run(
          `delete from ${table} where library_key = ? and path_key = ?`,
          libraryKey,
          pathKey(moved),
        )
      }
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

/** Drops the locks and sub-libraries at and below paths that were deleted, and has their links lead nowhere. */
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
  for (const { path } of await boundPaths(tx, 'link', library.key, gone)) {
    await endTickets(tx, library.key, path)
    const sql = 'update link set path_key = null where library_key = ? and path_key = ?'
    await tx.run(sql, library.key, pathKey(path))
  }
}

/** What becomes of what is bound to a path, and to that path alone. */
export interface Fate {
  readonly from: LibraryPath
  /** Where the item is now; undefined if it is gone. */
  readonly to: LibraryPath | undefined
}

/** The paths of a stored library that anything is bound to. */
export async function listBoundPaths(reader: Reader, libraryKey: number): Promise<LibraryPath[]> {
  const selects = FOLLOWING.map((table) => {
    const alive = table === 'link' ? ' and path_key is not null' : ''
    return `select path from ${table} where library_key = ?${alive}`
  })
  const rows = await reader.all<{ path: string }>(selects.join(' union '), ...FOLLOWING.map(() => libraryKey))
  return rows.map(({ path }) => path as LibraryPath)
}

/** Gives what is bound to each path its fate, all at once: one may go where another comes from. */
export async function rebind(tx: Transaction, library: Scope, fates: readonly Fate[]): Promise<void> {
  const moves: [from: LibraryPath, to: LibraryPath][] = []
  for (const { from, to } of fates) {
    const path = inOrigin(library, from)
    if (to === undefined) await dropAt(tx, library.key, path)
    else moves.push([path, inOrigin(library, to)])
  }
  // No path has an empty name in it.
  const asides = moves.map((_, index) => `//${index}` as LibraryPath)
  for (const [index, [from]] of moves.entries()) {
    await endTickets(tx, library.key, from)
    for (const table of FOLLOWING) await setPath(tx, table, library.key, from, asides[index] as LibraryPath)
  }
  for (const [index, [, to]] of moves.entries()) {
    for (const table of FOLLOWING) {
      const aside = asides[index] as LibraryPath
      // As in followMoves.
      if (table !== 'link') await makeRoom(tx, table, library.key, aside, to)
      await setPath(tx, table, library.key, aside, to)
    }
  }
}

async function dropAt(tx: Transaction, libraryKey: number, path: LibraryPath): Promise<void> {
  for (const table of GOING) {
    await tx.run(`delete from ${table} where library_key = ? and path_key = ?`, libraryKey, pathKey(path))
  }
  await endTickets(tx, libraryKey, path)
  const sql = 'update link set path_key = null where library_key = ? and path_key = ?'
  await tx.run(sql, libraryKey, pathKey(path))
}

/** Where something is to come to a path, what was bound to the path before goes: it was bound to something that is gone. */
async function makeRoom(
  tx: Transaction,
  table: (typeof FOLLOWING)[number],
  libraryKey: number,
  coming: LibraryPath,
  path: LibraryPath,
): Promise<void> {
  await tx.run(
    `delete from ${table} where library_key = ? and path_key = ?
       and exists (select 1 from ${table} other where other.library_key = ? and other.path_key = ?)`,
    libraryKey,
    pathKey(path),
    libraryKey,
    pathKey(coming),
  )
}

async function setPath(
  tx: Transaction,
  table: (typeof FOLLOWING)[number],
  libraryKey: number,
  from: LibraryPath,
  to: LibraryPath,
): Promise<void> {
  await tx.run(
    `update ${table} set path = ?, path_key = ? where library_key = ? and path_key = ?`,
    to,
    pathKey(to),
    libraryKey,
    pathKey(from),
  )
}

/** Ends the transfers opened by the links of a path: they name the path, which may become something else's. */
async function endTickets(tx: Transaction, libraryKey: number, path: LibraryPath): Promise<void> {
  await tx.run(
    `delete from ticket where link_key in
       (select key from link where library_key = ? and path_key = ?)`,
    libraryKey,
    pathKey(path),
  )
}

/** The paths of a library that links lead to. */
export async function linkedPaths(
  reader: Reader,
  libraryKey: number,
): Promise<{ path: LibraryPath; isDir: boolean }[]> {
  const rows = await reader.all<{ path: string; is_dir: number }>(
    'select distinct path, is_dir from link where library_key = ? and path_key is not null',
    libraryKey,
  )
  return rows.map((row) => ({ path: row.path as LibraryPath, isDir: row.is_dir === 1 }))
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
