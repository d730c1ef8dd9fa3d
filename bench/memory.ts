import { readFile } from 'node:fs/promises'

const BYTES_A_KIB = 1024

/** Memory of a process in bytes: what it holds now, and the most it ever held. */
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
    return Number(kib) * BYTES_A_KIB
  }
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') }
}

/** The most memory any server of a run ever held. */
export class MemoryPeak {
  bytes = 0
  scenario = ''
  /** The scenario under way. */
  current = ''

  note(bytes: number): void {
    if (bytes <= this.bytes) return
    this.bytes = bytes
    this.scenario = this.current
  }
}
