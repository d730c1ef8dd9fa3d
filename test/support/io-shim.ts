import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'

/** The reason why the shim cannot be built on this machine, or false. For `skip` of a suite. */
export function cannotBuildShim(): string | false {
  if (process.platform !== 'linux') return 'file operations are intercepted on Linux only'
  return findCompiler() === undefined ? 'no C compiler is installed' : false
}

/**
 * The library that records and fails file operations, compiled from `io-shim/io-shim.c`. A process loads it with LD_PRELOAD.
 */
export class IoShim implements AsyncDisposable {
  /** A folder of its own, for the library, the log and the rules. */
  readonly folder: string
  readonly #library: string

  private constructor(folder: string, library: string) {
    this.folder = folder
    this.#library = library
  }

  static async build(): Promise<IoShim> {
    const compiler = findCompiler()
    if (compiler === undefined) throw new Error('No C compiler is installed.')
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-io-shim-'))
    const library = path.join(folder, 'io-shim.so')
    const source = path.join(import.meta.dirname, 'io-shim/io-shim.c')
    await promisify(execFile)(compiler, ['-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread'])
    return new IoShim(folder, library)
  }

  /** Environment of a server on a data folder. io_uring is off, because its operations are no calls that could be intercepted. */
  environment(data: string): Record<string, string> {
    return { LD_PRELOAD: this.#library, IO_SHIM_ROOT: data, UV_USE_IO_URING: '0' }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** The path of a C compiler. */
export function findCompiler(): string | undefined {
  return ['cc', 'gcc', 'clang', 'tcc'].map(findProgram).find((found) => found !== undefined)
}
