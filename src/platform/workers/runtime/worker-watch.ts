// Watchdog thread: kills its own process when it exceeds its memory or CPU limit, and writes the reason to stderr.
import { writeSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { cpuMs, killMessages, memoryMeter, type Watched } from './worker-usage.ts'

const { deadline, processBytes } = workerData as Watched
const INTERVAL_MS = 50
const residentBytes = memoryMeter()

setInterval(() => {
  const stopAt = Atomics.load(deadline, 0)
  if (residentBytes() > processBytes) end(killMessages.tooLarge)
  else if (stopAt !== 0 && cpuMs() > stopAt) end(killMessages.tooLong)
}, INTERVAL_MS)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage('started')

function end(reason: string): void {
  writeSync(2, reason)
  process.kill(process.pid, 'SIGKILL')
}
