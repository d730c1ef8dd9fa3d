import { parentPort, threadId, workerData } from 'node:worker_threads'

// A thread of the test of the pool. It multiplies, waits for a flag in shared memory, or ends.
parentPort?.on('message', ({ value, wait, end }: { value: number; wait?: Int32Array; end?: number }) => {
  if (end !== undefined) process.exit(end)
  if (wait !== undefined) Atomics.wait(wait, 0, 0)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage({ product: value * workerData, thread: threadId })
})
