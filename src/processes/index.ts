export { ProcessScaler } from './process-scaler.ts'
export { Supervisor, WorkerStartError } from './supervisor.ts'
export { connectWorker } from './worker.ts'
