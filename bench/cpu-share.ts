import { accessSync, constants, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Length of a scheduling period in microseconds: short, so that a limited process is not paused for long. */
const PERIOD_US = 20_000

/** Where control groups limit CPU time, and how it is written there. */
const HIERARCHIES = [
  {
    root: '/sys/fs/cgroup/cpu',
    settings: (quota: number) => ({ 'cpu.cfs_period_us': PERIOD_US, 'cpu.cfs_quota_us': quota }),
  },
  { root: '/sys/fs/cgroup', settings: (quota: number) => ({ 'cpu.max': `${quota} ${PERIOD_US}` }) },
]

// Processes are killed before, but the system takes a moment to remove them from the group.
const REMOVE_MS = 10_000
const PAUSE_MS = 20

/** A control group that limits processes to a share of a core. Disposal removes it, once they have ended. */
export class CpuShare implements AsyncDisposable {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Undefined if control groups cannot be created here: not Linux, not root, or without a CPU controller. */
  static create(name: string, share: number): CpuShare | undefined {
    for (const { root, settings } of HIERARCHIES) {
      const folder = path.join(root, name)
      try {
        mkdirSync(folder)
      } catch {
        continue
      }
      try {
        // A folder that is no control group has no such file.
        accessSync(path.join(folder, 'cgroup.procs'), constants.W_OK)
        const quota = Math.round(share * PERIOD_US)
        for (const [file, value] of Object.entries(settings(quota))) {
          writeFileSync(path.join(folder, file), String(value), { flag: 'r+' })
        }
        return new CpuShare(folder)
      } catch {
        rmdirSync(folder)
      }
    }
    return undefined
  }

  /** Moves a process with its threads. Processes that it starts later are limited, too. */
  add(pid: number): void {
    writeFileSync(path.join(this.#folder, 'cgroup.procs'), String(pid))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end = performance.now() + REMOVE_MS; ; await wait(PAUSE_MS)) {
      try {
        return rmdirSync(this.#folder)
      } catch (error) {
        const isBusy = error instanceof Error && 'code' in error && error.code === 'EBUSY'
        if (!isBusy || performance.now() > end) throw error
      }
    }
  }
}
