export { confinement } from './confinement.ts'
export { sealProblem } from './sandbox.ts'
export { WorkerPool, WorkersClosed } from './worker-pool.ts'
export { type WorkerFailure, type WorkerJob, WorkerLost, type WorkerOutcome } from './worker-process.ts'
