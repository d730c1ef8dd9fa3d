import { availableParallelism, cpus } from 'node:os'

/** Interval at which idle CPU time is measured. */
const MEASURE_INTERVAL_MS = 1000

/** Another job starts while this share of CPU time is idle. A job that was just started shows within a second. */
const IDLE_SHARE = 0.1

/** Available memory that another job requires, for its servers and pages of the browser. */
const BYTES_PER_JOB = 700 * 2 ** 20

const cores = availableParallelism()
/** CARREL_TEST_PROCESSES sets a fixed number. Otherwise at least one more than cores, because there is always a test that waits. */
const fixed = Number(process.env['CARREL_TEST_PROCESSES'] ?? 0)
const MIN_JOBS = fixed || cores + 1
const MAX_JOBS = fixed || cores * 4

/**
 * Worker pool. Starts jobs in order: one more than there are cores, and further ones while CPU time is idle, because jobs wait for
 * disks, clocks and clients. Resolves once all jobs have ended. Jobs that were not started when `signal` aborts are dropped.
 */
export async function runInPool<Job>(
  jobs: readonly Job[],
  signal: AbortSignal,
  runJob: (job: Job) => Promise<void>,
): Promise<void> {
  const waiting = [...jobs]
  const running = new Set<Promise<void>>()
  const startNext = () => {
    const job = waiting.shift()
    if (job === undefined) return
    const done = runJob(job).finally(() => running.delete(done))
    running.add(done)
  }
  const idleShare = idleShareMeter()
  const timer = setInterval(() => {
    const hasCapacity = idleShare() > IDLE_SHARE && process.availableMemory() > BYTES_PER_JOB
    if (hasCapacity && running.size < MAX_JOBS && !signal.aborted) startNext()
  }, MEASURE_INTERVAL_MS)
  try {
    while (waiting.length > 0 || running.size > 0) {
      while (running.size < MIN_JOBS && waiting.length > 0 && !signal.aborted) startNext()
      if (running.size === 0) return
      await Promise.race(running)
    }
  } finally {
    clearInterval(timer)
  }
}

/** Returns a function that measures the idle share of CPU time since its last call. A CPU that waits for a disk is idle. */
function idleShareMeter(): () => number {
  // `cpus` does not count waiting for disks, so idle time is what the other counters leave of the time that passed.
  const read = () => {
    const all = cpus()
    const busyMs = all.reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
    return { busyMs, availableMs: performance.now() * all.length }
  }
  let last = read()
  return () => {
    const now = read()
    const share = 1 - (now.busyMs - last.busyMs) / (now.availableMs - last.availableMs)
    last = now
    return share
  }
}
