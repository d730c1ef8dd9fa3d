import path from 'node:path'
import type { ProbeResult } from './probe-worker.ts'
import { sealProblem } from './sandbox.ts'
import { WorkerPool } from './worker-pool.ts'

/** What the sandbox of worker processes prevents on this machine, as one of them found out by trying. */
interface Confinement extends ProbeResult {
  /** Why the kernel does not confine them; undefined if it does. */
  readonly problem: string | undefined
}

const MiB = 2 ** 20
const program = {
  name: 'probe',
  entry: path.join(import.meta.dirname, 'probe-worker.ts'),
  packages: [],
}

/** Starts a worker process and has it try. */
export async function confinement(): Promise<Confinement> {
  const limits = { workMs: 10_000, timeoutMs: 20_000, heapBytes: 64 * MiB, processBytes: 512 * MiB }
  const pool = new WorkerPool<object, ProbeResult>({ program, limits, parse: parseProbe, slots: 1 })
  try {
    const read = async function* () {}
    const job = { task: {}, read, maxBytes: 0, whole: false }
    const outcome = await pool.run({ key: '', origin: '' }, job)
    if ('failure' in outcome) throw new Error(`A worker process failed (${outcome.failure}).`)
    return { ...outcome.result, problem: sealProblem() }
  } finally {
    await pool.close()
  }
}

function parseProbe(result: unknown): ProbeResult | undefined {
  return typeof result === 'object' && result !== null ? (result as ProbeResult) : undefined
}
