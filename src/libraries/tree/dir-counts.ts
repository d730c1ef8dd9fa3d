import { type DirId, EMPTY_ID } from '../../base/objects/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { ObjectStore } from './object-store.ts'

const ROWS_PER_TRANSACTION = 500

interface Frame {
  readonly id: DirId
  readonly below: DirId[]
  count: number
}

/**
 * Counts the folders below a dir whose row has no count, and stores the counts. Each distinct dir is read once, so the cost
 * depends on the number of dirs, not of paths. Sums saturate at the largest safe integer.
 */
export async function countDirs(objects: ObjectStore, libraryKey: number, root: DirId): Promise<number> {
  const counts = new Map<DirId, number>([[EMPTY_ID, 0]])
  const slicer = new TimeSlicer()
  let unwritten: [DirId, number][] = []
  const open: Frame[] = []
  await enter(root)
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    if (slicer.isDue) await slicer.rest()
    const next = frame.below.at(-1)
    const known = next === undefined ? undefined : counts.get(next)
    if (next === undefined) {
      open.pop()
      counts.set(frame.id, frame.count)
      unwritten.push([frame.id, frame.count])
      if (unwritten.length >= ROWS_PER_TRANSACTION) await write()
    } else if (known === undefined) {
      await enter(next)
    } else {
      frame.below.pop()
      frame.count = Math.min(frame.count + 1 + known, Number.MAX_SAFE_INTEGER)
    }
  }
  await write()
  return counts.get(root) ?? 0

  async function enter(id: DirId): Promise<void> {
    if (counts.has(id)) return
    const known = await objects.storedDirCount(libraryKey, id)
    if (known !== undefined) return void counts.set(id, known)
    const { dir } = await objects.getDir(libraryKey, id)
    open.push({ id, below: dir.entries.flatMap((entry) => (entry.kind === 'dir' ? entry.id : [])), count: 0 })
  }

  async function write(): Promise<void> {
    const some = unwritten
    unwritten = []
    await objects.storeDirCounts(libraryKey, some)
  }
}
