import { type LibraryPath, selfAndAbove, withSlash } from '../../base/paths/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { refusePropertyGrowth } from '../attributes/index.ts'
import type { LibraryCore } from '../library/index.ts'
import { asSeen, inOrigin, type PathBinding, type Scope } from '../registry/index.ts'

/** Copied rows between two checks of the quota. */
const CHECKED_EVERY = 100

/** An item that was at one path and is now at another. */
export interface Moved {
  readonly from: LibraryPath
  /** The new path. */
  readonly path: LibraryPath
}

/** Moves the rows bound to `from` and to paths below it to `to`. Part of the commit that moves the item. */
export async function followMove(
  bindings: readonly PathBinding[],
  tx: Transaction,
  library: Scope,
  from: LibraryPath,
  to: LibraryPath,
): Promise<void> {
  await followMoves(bindings, tx, library, [{ from, path: to }])
}

/** As followMove, for many items. */
export async function followMoves(
  bindings: readonly PathBinding[],
  tx: Transaction,
  library: Scope,
  moves: readonly Moved[],
): Promise<void> {
  const targets = new Map(moves.map(({ from, path }) => [inOrigin(library, from), inOrigin(library, path)]))
  for (const binding of bindings) {
    for (const { path, root } of await rowsAt(tx, binding, library.key, targets)) {
      const moved = `${targets.get(root)}${path.slice(root.length)}` as LibraryPath
      await binding.move(tx, library.key, path, moved)
    }
  }
}

/**
 * Copies the rows of items that were copied, where the table has rows that a copy keeps. Part of the commit that copies them. Throws
 * quota-exceeded.
 */
export async function copyBound(
  core: LibraryCore,
  tx: Transaction,
  source: Scope,
  target: Scope,
  copies: readonly Moved[],
): Promise<void> {
  const targets = new Map(copies.map(({ from, path }) => [inOrigin(source, from), inOrigin(target, path)]))
  for (const binding of core.pathBindings) {
    if (binding.copy === undefined) continue
    const bound = await rowsAt(tx, binding, source.key, targets)
    for (const [index, { path, root }] of bound.entries()) {
      const copied = `${targets.get(root)}${path.slice(root.length)}` as LibraryPath
      await binding.copy(tx, { libraryKey: source.key, path }, { libraryKey: target.key, path: copied })
      // Now and then, so that a copy that is too large does not write all of it first.
      const isLast = index === bound.length - 1
      if (isLast || index % CHECKED_EVERY === 0) await refusePropertyGrowth(core, tx, target.key)
    }
  }
}

/** Ends the bindings at and below paths that were deleted. */
export async function dropBound(
  bindings: readonly PathBinding[],
  tx: Transaction,
  library: Scope,
  paths: readonly LibraryPath[],
): Promise<void> {
  const gone = new Set(paths.map((path) => inOrigin(library, path)))
  for (const binding of bindings) {
    if (binding.drop === undefined) continue
    for (const { path } of await rowsAt(tx, binding, library.key, gone)) {
      await binding.drop(tx, library.key, path)
    }
  }
}

/** The paths of deleted files whose rows are kept, as the library shows them. */
export async function listDeletedBound(
  bindings: readonly PathBinding[],
  reader: Reader,
  library: Scope,
): Promise<LibraryPath[]> {
  const deleted = new Set<LibraryPath>()
  for (const binding of bindings) {
    for (const path of (await binding.listDeleted?.(reader, library.key)) ?? []) deleted.add(path)
  }
  return [...deleted].flatMap((path) => asSeen(library, path) ?? [])
}

/** Brings back the rows of deleted files that were restored. */
export async function restoreBound(
  bindings: readonly PathBinding[],
  tx: Transaction,
  library: Scope,
  paths: readonly LibraryPath[],
): Promise<void> {
  for (const binding of bindings) {
    for (const path of paths) await binding.restore?.(tx, library.key, inOrigin(library, path))
  }
}

/** The new path of the item at a path, without those below it. */
export interface BoundPathMove {
  readonly from: LibraryPath
  /** Undefined if the item was deleted. */
  readonly to: LibraryPath | undefined
}

/** The paths of a stored library that have bindings. */
async function listBoundPaths(
  bindings: readonly PathBinding[],
  reader: Reader,
  libraryKey: number,
): Promise<LibraryPath[]> {
  const rows = await reader.all<{ path: string }>(
    bindings.map(({ paths }) => paths).join(' union '),
    ...bindings.map(() => libraryKey),
  )
  return rows.map(({ path }) => path as LibraryPath)
}

/** Applies all moves at once, because an item may move to a path that another one leaves. */
async function rebind(
  bindings: readonly PathBinding[],
  tx: Transaction,
  library: Scope,
  moves: readonly BoundPathMove[],
): Promise<void> {
  const renamed: [from: LibraryPath, to: LibraryPath][] = []
  for (const { from, to } of moves) {
    const path = inOrigin(library, from)
    if (to !== undefined) renamed.push([path, inOrigin(library, to)])
    else for (const binding of bindings) await binding.drop?.(tx, library.key, path)
  }
  // Temporary paths. They contain an empty name, which no path of an item does.
  const temporary = renamed.map((_, index) => `//${index}` as LibraryPath)
  for (const [index, [from]] of renamed.entries()) {
    for (const binding of bindings) await binding.move(tx, library.key, from, temporary[index] as LibraryPath)
  }
  for (const [index, [, to]] of renamed.entries()) {
    for (const binding of bindings) await binding.move(tx, library.key, temporary[index] as LibraryPath, to)
  }
}

/** The bound paths at and below some roots, each with the root it belongs to. */
async function rowsAt(
  tx: Transaction,
  binding: PathBinding,
  libraryKey: number,
  roots: { readonly size: number; has(path: LibraryPath): boolean; keys(): Iterator<LibraryPath> },
): Promise<{ path: LibraryPath; root: LibraryPath }[]> {
  // The database filters by one root. For many, reading all bound paths once is cheaper.
  const only = roots.size === 1 ? roots.keys().next().value : undefined
  const below = only === undefined ? '' : withSlash(only)
  const rows = await tx.all<{ path: string }>(
    `select distinct path from (${binding.paths}) bound where path = ? or substr(path, 1, ?) = ?`,
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

/** Rows that are bound to paths, for pushes, which say afterwards what was moved. */
export const boundPaths = { list: listBoundPaths, rebind }
