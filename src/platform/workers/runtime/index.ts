export { FrameReader, frameHeader } from './frames.ts'
export { isFiltered, SECCOMP_CALL, startFilter } from './seccomp-filter.ts'
export { serveWorker, type WorkerInput } from './serve-worker.ts'
export {
  decodeMessage,
  EXIT_UNSEALED,
  FROM_WORKER,
  type JobEnd,
  type JobStart,
  TO_WORKER,
  type WorkerLimits,
} from './worker-messages.ts'
export { killMessages, MEMORY_FILE } from './worker-usage.ts'
