import { openSync, readSync } from 'node:fs'

/** `workerData` of the watchdog thread. */
export interface Watched {
  /** One number: the CPU time in milliseconds at which the current job is killed; 0 while idle. */
  readonly deadline: Int32Array
  readonly processBytes: number
}

/** Where Linux says how much memory the process uses. The server lets workers read it. */
export const MEMORY_FILE = '/proc/self/statm'

/** CPU time this process has used. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Returns a function that measures the resident memory. On Linux it reads a descriptor, because a confined process opens no files. */
export function memoryMeter(): () => number {
  if (process.platform !== 'linux') return () => process.memoryUsage.rss()
  const descriptor = openSync(MEMORY_FILE, 'r')
  const buffer = Buffer.alloc(128)
  const readPages = () => {
    const text = buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, buffer.length, 0))
    return Number(text.split(' ')[1])
  }
  const pageBytes = Math.round(process.memoryUsage.rss() / readPages() / 4096) * 4096
  return () => readPages() * pageBytes
}

/** Written to stderr before the watchdog kills the process. */
export const killMessages = { tooLarge: '[worker too large]', tooLong: '[worked too long]' }
