// Ends the process it runs in when that has grown too large or worked too long, and leaves word of why.
import { writeSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { lastWords, processorMs, type Watched } from './worker-usage.ts'

const { deadline, processBytes } = workerData as Watched
const everyMs = 50

setInterval(() => {
  const stopAt = Atomics.load(deadline, 0)
  if (process.memoryUsage.rss() > processBytes) end(lastWords.tooLarge)
  else if (stopAt !== 0 && processorMs() > stopAt) end(lastWords.tooLong)
}, everyMs)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage('started')

function end(word: string): void {
  writeSync(2, word)
  process.kill(process.pid, 'SIGKILL')
}
