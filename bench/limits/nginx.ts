import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findProgram } from '../../bin/system-programs.ts'
import { HttpTarget } from '../http-target.ts'
import { endProgram, type HttpProgram, startHttpProgram } from './http-program.ts'
import { nginxArgs } from './nginx-conf.ts'

/** nginx in a child process: static GET and DAV PUT, without flushes and without a log. */
export class Nginx extends HttpTarget implements AsyncDisposable {
  readonly #program: HttpProgram
  readonly #folder: string

  private constructor(program: HttpProgram, folder: string) {
    super(program.url, program.child.pid ?? 0)
    this.#program = program
    this.#folder = folder
  }

  /** Undefined if nginx is not on the PATH. */
  static async start(parent: string): Promise<Nginx | undefined> {
    const program = findProgram('nginx')
    if (program === undefined) return undefined
    const folder = await mkdtemp(path.join(parent, 'nginx-'))
    await mkdir(path.join(folder, 'files'))
    const argsFor = (port: number) => nginxArgs(folder, port)
    return new Nginx(await startHttpProgram(program, argsFor, path.join(folder, 'error.log')), folder)
  }

  /** Adds a file to serve. */
  async add(name: string, bytes: Uint8Array): Promise<void> {
    await writeFile(path.join(this.#folder, 'files', name), bytes)
    await this.flush(name)
  }

  /** Flushes a file, so that the next measurement does not compete with its writeback. */
  async flush(name: string): Promise<void> {
    await using handle = await open(path.join(this.#folder, 'files', name))
    await handle.datasync()
  }

  /** Removes all files; dirty pages are dropped, not written. */
  async clear(): Promise<void> {
    const files = path.join(this.#folder, 'files')
    await rm(files, { recursive: true })
    await mkdir(files)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endProgram(this.#program)
    await rm(this.#folder, { recursive: true, force: true })
  }
}
