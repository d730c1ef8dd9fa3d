import { parentPort, workerData } from 'node:worker_threads'
import type { AsideJob, AsideThreadData } from './aside.ts'
import { openReader } from './open-reader.ts'

const { setting, job, input } = workerData as AsideThreadData
const { run } = (await import(job)) as AsideJob<unknown, unknown>
await using reader = await openReader(setting)
const result = await run(reader, input)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(result)
