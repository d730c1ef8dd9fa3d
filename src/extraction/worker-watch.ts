// Ends the process it runs in when that has grown too large, or works on after its deadline.
import { workerData } from 'node:worker_threads'

const { shared, processBytes } = workerData as { shared: Int32Array; processBytes: number }
const everyMs = 50

setInterval(() => {
  const deadline = Atomics.load(shared, 0)
  const isLate = deadline !== 0 && Date.now() / 1000 > deadline
  if (isLate || process.memoryUsage.rss() > processBytes) process.kill(process.pid, 'SIGKILL')
}, everyMs)
