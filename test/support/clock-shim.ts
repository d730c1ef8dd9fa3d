import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { findCompiler } from './io-shim.ts'

/** Shifts the wall clock of processes, compiled from `clock-shim/clock-shim.c`. */
export class ClockShim implements AsyncDisposable {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async build(): Promise<ClockShim> {
    const compiler = findCompiler()
    if (compiler === undefined) throw new Error('No C compiler is installed.')
    const shim = new ClockShim(await mkdtemp(path.join(os.tmpdir(), 'carrel-clock-shim-')))
    const source = path.join(import.meta.dirname, 'clock-shim/clock-shim.c')
    await promisify(execFile)(compiler, ['-shared', '-fPIC', '-o', shim.#library, source])
    return shim
  }

  get #library(): string {
    return path.join(this.#folder, 'clock-shim.so')
  }

  /** Environment of a process whose clock is so many seconds ahead. */
  environment(seconds: number): Record<string, string> {
    return { LD_PRELOAD: this.#library, CLOCK_SHIM_SECONDS: String(seconds) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}
