import { Supervisor } from '../src/platform/processes/index.ts'

/** Latency of an uncontended lock that a supervisor grants to one of its processes. */
export interface LockTimes {
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of the process, for a lock and its release. */
  readonly cpuMs: number
}

export async function measureLock(): Promise<LockTimes> {
  const log = () => {}
  const supervisor = new Supervisor({
    entry: new URL('lock-worker.ts', import.meta.url),
    input: undefined,
    count: 1,
    deadNodeId: undefined,
    firstNodeId: 'bench',
    logger: { info: log, warn: log, error: log },
    onFatal: log,
  })
  try {
    return (await supervisor.start()) as LockTimes
  } finally {
    await supervisor.stop(0)
  }
}
