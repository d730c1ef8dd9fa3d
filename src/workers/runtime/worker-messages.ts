import type { WorkerLimits } from './limits.ts'

/** To a worker: a job begins, bytes of its input, and that there are no more to come. */
export type ToWorker<Task> =
  | { readonly kind: 'begin'; readonly task: Task; readonly limits: WorkerLimits }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly cut: boolean }

/** From a worker: it has started, or it is done. `tired` if it grew and should be replaced. */
export type FromWorker<Result> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly result: Result; readonly tired: boolean }
