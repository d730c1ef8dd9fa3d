/** What one job may take of a worker process. */
export interface WorkerLimits {
  /** Processor time to work, once all bytes are there: a busy machine makes no file unreadable. */
  readonly workMs: number
  /** Time to work by the clock, and to wait for each piece of the input. */
  readonly patienceMs: number
  /** What the JavaScript heap may hold. */
  readonly heapBytes: number
  /** What the whole process may hold, buffers, native memory and code included. */
  readonly processBytes: number
}
