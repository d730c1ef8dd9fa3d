import { readFile } from 'node:fs/promises'

const BYTES_PER_KIB = 1024

/** Resident memory of a process in bytes: current and peak. */
export interface Memory {
  readonly now: number
  readonly peak: number
}

/** Linux only, as the bench is. */
export async function readMemory(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const bytes = (field: string) => {
    const kib = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    if (kib === undefined) throw new Error(`/proc/${pid}/status has no ${field}`)
    return Number(kib) * BYTES_PER_KIB
  }
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') }
}

/** The highest memory peak of the servers of a scenario. */
export class MemoryPeak {
  bytes = 0

  record(bytes: number): void {
    this.bytes = Math.max(this.bytes, bytes)
  }
}
