import { availableParallelism, cpus } from 'node:os'

/** How often it is looked whether the cores have time left for one more. */
const LOOK_EVERY_MS = 1000

/** The share of the cores' time that has to be left over. A job that was just begun shows within a second. */
const LEFT_OVER = 0.2

/** What one more test file may need, browser and server included. */
const MEMORY_FOR_ONE = 700 * 2 ** 20

const cores = availableParallelism()
/** CARREL_TEST_PROCESSES sets a fixed number. Otherwise at least one more than cores, because there is always a test that waits. */
const fixed = Number(process.env['CARREL_TEST_PROCESSES'] ?? 0)
const FEWEST = fixed || cores + 1
const MOST = fixed || cores * 4

/**
 * Does jobs in order, some at once: a few more than there are cores, and further ones as long as those leave time,
 * because they wait for a disk, a clock or a client. Resolves once all are done; those not begun when `signal`
 * aborts are left out.
 */
export async function inPool<Job>(
  jobs: readonly Job[],
  signal: AbortSignal,
  work: (job: Job) => Promise<void>,
): Promise<void> {
  const waiting = [...jobs]
  const running = new Set<Promise<void>>()
  const begin = () => {
    const job = waiting.shift()
    if (job === undefined) return
    const done = work(job).finally(() => running.delete(done))
    running.add(done)
  }
  const leftOver = coreTimer()
  const look = setInterval(() => {
    const isIdle = leftOver() > LEFT_OVER && process.availableMemory() > MEMORY_FOR_ONE
    if (isIdle && running.size < MOST && !signal.aborted) begin()
  }, LOOK_EVERY_MS)
  try {
    while (waiting.length > 0 || running.size > 0) {
      while (running.size < FEWEST && waiting.length > 0 && !signal.aborted) begin()
      if (running.size === 0) return
      await Promise.race(running)
    }
  } finally {
    clearInterval(look)
  }
}

/** Gives the share of the cores' time that nobody used since the last call. */
function coreTimer(): () => number {
  const read = () => {
    const sums = { idle: 0, all: 0 }
    for (const { times } of cpus()) {
      sums.idle += times.idle
      sums.all += times.user + times.nice + times.sys + times.irq + times.idle
    }
    return sums
  }
  let last = read()
  return () => {
    const now = read()
    const all = now.all - last.all
    const share = all === 0 ? 0 : (now.idle - last.idle) / all
    last = now
    return share
  }
}
