import { type DirId, EMPTY_ID } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath, pathKey, ROOT } from '../../base/paths/index.ts'
import { listFirstSeenAfter, listOriginsAfter, originKey } from '../../libraries/history/index.ts'
import { readAdded } from '../../libraries/tree/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { IdList } from './id-list.ts'
import { IdSet } from './id-set.ts'
import type { Yielding } from './mark.ts'

const ROWS_PER_STEP = 500

/** Parameters of a search for stale rows of the path index. Copied to a side process. */
export interface StalePathsInput {
  readonly libraryKey: number
  /** The trees of the oldest commit that is kept and of the head. */
  readonly roots: readonly DirId[]
  /** The oldest commit that is kept, and its time in Unix seconds. */
  readonly keptSeq: number
  readonly keptAt: number
  /** Most rows of each kind in the result. */
  readonly most: number
  readonly mostInMemory: number
}

/** Keys are concatenated, 20 bytes each. */
export interface StalePaths {
  readonly originKeys: Uint8Array
  readonly originSeqs: Int32Array
  readonly firstSeenKeys: Uint8Array
}

/**
 * Finds rows of the path index about paths of the history that was given up. A path that was there at the oldest kept commit, or appeared later,
 * needs the last of its rows up to that commit. Other rows from before it are stale. They contain names that users deleted.
 */
export async function findStalePaths(
  reader: Reader,
  input: StalePathsInput,
  yielding: Yielding,
): Promise<StalePaths> {
  const { libraryKey, keptSeq, keptAt, most } = input
  using live = new IdSet(input.mostInMemory)
  for (const root of new Set(input.roots)) await addPaths(reader, libraryKey, root, live, yielding)
  const origins = new IdList()
  let pending: { path_key: Uint8Array; seq: number } | undefined
  const judge = (row: { path_key: Uint8Array; seq: number }, next: typeof pending) => {
    if (row.seq >= keptSeq || origins.length >= most) return
    const isFollowed =
      next !== undefined && Buffer.compare(next.path_key, row.path_key) === 0 && next.seq <= keptSeq
    if (isFollowed || !live.has(row.path_key)) origins.push(row.path_key, row.seq)
  }
  for (let after = { key: new Uint8Array(0), seq: 0 }; ; ) {
    const rows = await listOriginsAfter(reader, libraryKey, after, ROWS_PER_STEP)
    for (const row of rows) {
      if (pending !== undefined) judge(pending, row)
      pending = row
    }
    if (pending === undefined || rows.length < ROWS_PER_STEP) break
    after = { key: new Uint8Array(pending.path_key), seq: pending.seq }
    if (yielding.isDue) await yielding.rest()
  }
  if (pending !== undefined) judge(pending, undefined)
  const firstSeen = new IdList()
  for (let after = new Uint8Array(0); ; ) {
    const rows = await listFirstSeenAfter(reader, libraryKey, after, ROWS_PER_STEP)
    for (const { path_key, added_at } of rows) {
      if (added_at < keptAt && !live.has(path_key) && firstSeen.length < most) firstSeen.push(path_key)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_STEP) break
    after = new Uint8Array(last.path_key)
    if (yielding.isDue) await yielding.rest()
  }
  return { originKeys: origins.ids(), originSeqs: origins.numbers(), firstSeenKeys: firstSeen.ids() }
}

/** Adds the keys of all paths of a tree, in both spellings: rows use either. */
async function addPaths(
  reader: Reader,
  libraryKey: number,
  root: DirId,
  live: IdSet,
  yielding: Yielding,
): Promise<void> {
  const open: { id: DirId; path: LibraryPath }[] = [{ id: root, path: ROOT }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.id === EMPTY_ID) continue
    for (const entries of await readAdded(reader, libraryKey, next.id, () => false)) {
      for (const entry of entries) {
        const path = joinPath(next.path, entry.name)
        live.add(pathKey(path))
        live.add(originKey(path))
        if (entry.kind === 'dir') open.push({ id: entry.id, path })
      }
    }
    if (yielding.isDue) await yielding.rest()
  }
}
