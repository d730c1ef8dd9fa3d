import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'

const BYTES = 4096

/**
 * Runs `work` and gives its result with the disk's own rate: measured before and after it, the better
 * of the two, because whoever else uses the disk only ever makes it look worse.
 */
export async function besideSyncedWrites<T>(
  folder: string,
  ms: number,
  work: () => Promise<T>,
): Promise<{ result: T; syncsPerSecond: number }> {
  const before = measureSyncedWrites(folder, ms)
  const result = await work()
  return { result, syncsPerSecond: Math.max(before, measureSyncedWrites(folder, ms)) }
}

/** How many appended writes of 4 KiB a second, each synced before the next, the disk of a folder takes. */
function measureSyncedWrites(folder: string, ms: number): number {
  const file = path.join(folder, 'synced-writes')
  const bytes = Buffer.alloc(BYTES, 1)
  const handle = openSync(file, 'w')
  try {
    const began = performance.now()
    let writes = 0
    while (performance.now() - began < ms) {
      writeSync(handle, bytes)
      fdatasyncSync(handle)
      writes += 1
    }
    return writes / ((performance.now() - began) / 1000)
  } finally {
    closeSync(handle)
    rmSync(file)
  }
}
