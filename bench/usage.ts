import { readFile, writeFile } from 'node:fs/promises'
import { readMemory } from './memory.ts'

/** CPU time and memory of the server for one row. */
export interface Usage {
  /** User and system time. */
  readonly cpuSeconds: number
  /** Peak of the resident memory in bytes. */
  readonly peakBytes: number
}

/** Clock ticks per second in /proc. Constant on Linux. */
const TICKS = 100

/** Measures a process and its children from `start` to `read`. */
export class UsageMeter {
  readonly #pids: readonly number[]
  readonly #before: number

  private constructor(pids: readonly number[], before: number) {
    this.#pids = pids
    this.#before = before
  }

  static async start(pid: number): Promise<UsageMeter> {
    const pids = [pid, ...(await childrenOf(pid))]
    await Promise.all(pids.map(forgetPeak))
    return new UsageMeter(pids, await cpuSecondsOf(pids))
  }

  async read(): Promise<Usage> {
    const cpuSeconds = (await cpuSecondsOf(this.#pids)) - this.#before
    const memories = await Promise.all(this.#pids.map(readMemory))
    return { cpuSeconds, peakBytes: memories.reduce((sum, { peak }) => sum + peak, 0) }
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

async function cpuSecondsOf(pids: readonly number[]): Promise<number> {
  let ticks = 0
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The process name may contain spaces; utime and stime are the 12th and 13th fields after it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks / TICKS
}

/** Resets the memory peak of a process. Without permission, peaks only grow. */
async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {})
}
