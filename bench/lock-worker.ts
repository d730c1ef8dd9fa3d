import { connectWorker } from '../src/platform/processes/index.ts'
import type { LockTimes } from './lock-times.ts'

// A process of a supervisor that takes a lock again and again, reports how long that took, and ends when it is told to.

const WARM_UP = 2000
const MEASURED = 10_000

const worker = await connectWorker()
const timesMs: number[] = []
let cpuBefore = process.cpuUsage()
for (let n = 0; n < WARM_UP + MEASURED; n += 1) {
  if (n === WARM_UP) cpuBefore = process.cpuUsage()
  const began = performance.now()
  const lock = await worker.locks.lock('bench', { timeoutMs: 10_000 })
  if (n >= WARM_UP) timesMs.push(performance.now() - began)
  lock.release()
}
const { user, system } = process.cpuUsage(cpuBefore)
const sorted = timesMs.toSorted((a, b) => a - b)
const report: LockTimes = {
  p50Ms: sorted[Math.floor(MEASURED / 2)] ?? 0,
  p99Ms: sorted[Math.floor(MEASURED * 0.99)] ?? 0,
  cpuMs: (user + system) / 1000 / MEASURED,
}
worker.ready(report)
await worker.stopped
process.exit(0)
