/** `workerData` of the watchdog thread. */
export interface Watched {
  /** One number: the CPU time in milliseconds at which the current job is killed; 0 while idle. */
  readonly deadline: Int32Array
  readonly processBytes: number
}

/** CPU time this process has used. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Written to stderr before the watchdog kills the process. */
export const killMessages = { tooLarge: '[worker too large]', tooLong: '[worked too long]' }
