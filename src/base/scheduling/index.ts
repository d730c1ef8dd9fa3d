export { BackgroundQueue } from './background-queue.ts'
export { CoalescedTask } from './coalesced-task.ts'
export { DutyCycle } from './duty-cycle.ts'
export {
  Busy,
  FairSemaphore,
  type FairSemaphoreOptions,
  failIfBusy,
  KeyedMutex,
  Semaphore,
} from './fair-semaphore.ts'
export { type MaybePromise, whenReady } from './maybe-promise.ts'
export { Overdue } from './overdue.ts'
export { prefetched } from './prefetch.ts'
export { Retries } from './retries.ts'
export { type Operation, RunningOperations } from './running-operations.ts'
export { accountRequester, type Requester, SharedWork, VISITORS, visitorRequester } from './shared-work.ts'
export { takeTurns } from './take-turns.ts'
export { atOnce, batchSettled, type Slices, TimeSlicer } from './time-slicer.ts'
export { TwoGenerationCache } from './two-generation-cache.ts'
