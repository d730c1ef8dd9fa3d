export type { WorkerLimits } from './limits.ts'
export { serveWorker } from './serve-worker.ts'
export type { FromWorker, ToWorker } from './worker-messages.ts'
export { killMessages } from './worker-usage.ts'
