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
  readonly #pids: readonly [number, ...number[]]
  readonly #before: number

  private constructor(pids: readonly [number, ...number[]], before: number) {
    this.#pids = pids
    this.#before = before
  }

  static async start(pid: number): Promise<UsageMeter> {
    const pids: [number, ...number[]] = [pid, ...(await childrenOf(pid))]
    await Promise.all(pids.map(forgetPeak))
    return new UsageMeter(pids, await cpuSecondsOf(pids))
  }

  async read(): Promise<Usage> {
    const cpuSeconds = (await cpuSecondsOf(this.#pids)) - this.#before
    const ended = { now: 0, peak: 0 }
    const memories = await Promise.all(this.#pids.map((pid) => readMemory(pid).catch(() => ended)))
    return { cpuSeconds, peakBytes: memories.reduce((sum, { peak }) => sum + peak, 0) }
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

/** CPU time of a process and its children. A child that ended is counted by its parent. */
async function cpuSecondsOf([parent, ...children]: readonly [number, ...number[]]): Promise<number> {
  let ticks = sumOf((await timesOf(parent)) ?? [])
  for (const child of children) ticks += sumOf((await timesOf(child))?.slice(0, 2) ?? [])
  return ticks / TICKS
}

/** utime, stime, and both of the children that ended; undefined for a process that ended. */
async function timesOf(pid: number): Promise<number[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The process name may contain spaces. These are the 12th to 15th fields after it.
  return text
    ?.slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number)
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

/** Resets the memory peak of a process. Without permission, peaks only grow. */
async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {})
}
