import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'

const BYTES = 4096

/**
 * Runs `work` and returns its result with the flush rate of the disk. The rate is measured before and after, and the
 * higher one counts, because other users of the disk can only lower it.
 */
export async function withFlushRate<T>(
  folder: string,
  ms: number,
  work: () => Promise<T>,
): Promise<{ result: T; flushesPerSecond: number }> {
  const before = measureFlushRate(folder, ms)
  const result = await work()
  return { result, flushesPerSecond: Math.max(before, measureFlushRate(folder, ms)) }
}

/** Appended writes of 4 KiB per second, each followed by fdatasync. */
function measureFlushRate(folder: string, ms: number): number {
  const file = path.join(folder, 'flush-rate')
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
