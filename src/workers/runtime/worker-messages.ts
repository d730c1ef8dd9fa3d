import type { WorkerLimits } from './limits.ts'

/** To a worker: start of a job, bytes of its input, end of the input. `cut`: the input was truncated. */
export type ToWorker<Task> =
  | { readonly kind: 'begin'; readonly task: Task; readonly limits: WorkerLimits }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly cut: boolean }

/** From a worker: it has started, or the job is done. `recycle`: it has grown and should be replaced. */
export type FromWorker<Result> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly result: Result; readonly recycle: boolean }
