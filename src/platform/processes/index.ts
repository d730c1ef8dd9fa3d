export { Supervisor, WorkerStartError } from './supervisor.ts'
export { connectWorker } from './worker.ts'
