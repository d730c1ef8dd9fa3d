/** Resource limits of one job in a worker process. */
export interface WorkerLimits {
  /** CPU time after all input has arrived. Not wall-clock time, so that a busy machine does not fail valid files. */
  readonly workMs: number
  /** Wall-clock time for the work, and for each chunk of the input. */
  readonly timeoutMs: number
  /** Maximum size of the JavaScript heap. */
  readonly heapBytes: number
  /** Maximum resident memory of the process, including buffers, native memory and code. */
  readonly processBytes: number
}
