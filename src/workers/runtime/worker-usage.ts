/** What the thread that watches a worker is told. */
export interface Watched {
  /** One number: the processor time at which the worker must have done, in milliseconds; 0 if it does nothing. */
  readonly deadline: Int32Array
  readonly processBytes: number
}

/** Processor time this process has taken. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** What a worker writes before it ends itself. */
export const lastWords = { tooLarge: '[worker too large]', tooLong: '[worked too long]' }
