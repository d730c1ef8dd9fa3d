import path from 'node:path'
import { WorkerPool } from '../../src/platform/workers/worker-pool.ts'
import type { HostileTask } from './hostile-worker/hostile-worker.ts'

const MiB = 2 ** 20

/** A pool of worker processes that hostile files have taken over. Results may be any object. */
export function hostilePool(slots = 1) {
  const entry = path.join(import.meta.dirname, './hostile-worker/hostile-worker.ts')
  const pool = new WorkerPool<HostileTask, object>({
    program: { name: 'hostile', entry, packages: [], hasAddons: true },
    limits: { workMs: 20_000, timeoutMs: 30_000, heapBytes: 128 * MiB, processBytes: 2048 * MiB },
    parse: (result) => (result !== null && typeof result === 'object' ? result : undefined),
    slots,
  })
  return {
    run(task: HostileTask, origin = 'a', text = '') {
      const read = async function* () {
        yield Buffer.from(text)
      }
      return pool.run({ key: origin, origin }, { task, read, maxBytes: 1000, whole: true })
    },
    close: () => pool.close(),
  }
}
