import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dirent } from '../objects/dirent.ts'
import { type BlockId, EMPTY_ID, type FileId } from '../objects/ids.ts'
import type { LibraryCore } from './core.ts'
import { blocksOf, insertObjects, type PreparedObject, prepareDir, shareBlocks } from './object-store.ts'

const ROWS_A_STEP = 500

/**
 * Gives one library the objects and blocks below an entry of another: rows, not bytes. They are
 * stored in small steps before any dirent of the target names them (I1); if nothing ever does,
 * garbage collection takes them.
 */
export async function transplant(
  core: LibraryCore,
  fromKey: number,
  toKey: number,
  entry: Dirent,
): Promise<void> {
  const fileIds = new Set<FileId>()
  let rows: PreparedObject[] = []
  const open: Dirent[] = [entry]
  const seen = new Set<string>()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.id === EMPTY_ID || seen.has(next.id)) continue
    seen.add(next.id)
    if (next.kind === 'file') {
      fileIds.add(next.id)
      continue
    }
    const stored = await core.objects.getDir(fromKey, next.id)
    rows.push(prepareDir(stored.dir, stored, undefined, new Map()).object)
    open.push(...stored.dir.entries)
    if (rows.length >= ROWS_A_STEP) {
      await store(core, fromKey, toKey, rows)
      rows = []
    }
  }
  await store(core, fromKey, toKey, rows)
  const ids = [...fileIds]
  for (let start = 0; start < ids.length; start += ROWS_A_STEP) {
    const files = await core.objects.findFileRows(fromKey, ids.slice(start, start + ROWS_A_STEP))
    await store(core, fromKey, toKey, files)
  }
}

async function store(
  core: LibraryCore,
  fromKey: number,
  toKey: number,
  rows: readonly PreparedObject[],
): Promise<void> {
  if (rows.length === 0) return
  const blocks = new Set<BlockId>(rows.flatMap(blocksOf))
  await core.db.write(
    async (tx) => {
      await shareBlocks(tx, fromKey, toKey, [...blocks])
      await insertObjects(tx, toKey, rows)
    },
    // The commit that will name them is durable only after they are.
    { durable: false },
  )
  await nextTurn()
}
