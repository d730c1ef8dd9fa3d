import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { findProgram } from '../../bin/system-programs.ts'
import { HttpTarget } from '../http-target.ts'
import { apacheArgs } from './apache-conf.ts'
import { endProgram, type HttpProgram, startHttpProgram } from './http-program.ts'
import { nginxArgs } from './nginx-conf.ts'
import { flushWrites, stopFlushing } from './synchronous-folder.ts'

/** Where Debian has the module that lists folders (`libnginx-mod-http-dav-ext`). */
const NGINX_DAV_MODULE = '/usr/lib/nginx/modules/ngx_http_dav_ext_module.so'

/** Another WebDAV server. None of them flushes what it stores by itself. */
interface DavKind {
  readonly name: string
  readonly command: string
  readonly debianPackage: string
  /** Whether it answers PROPFIND as installed. */
  readonly listsFolders: () => boolean
  /** Where it writes bodies before they get their names, if that is not the folder of the file. */
  readonly bodies?: string
  readonly args: (folder: string, port: number) => Promise<readonly string[]>
}

export const davKinds: readonly DavKind[] = [
  {
    name: 'Apache mod_dav',
    command: 'apache2',
    debianPackage: 'apache2-bin',
    listsFolders: () => true,
    args: apacheArgs,
  },
  {
    name: 'nginx DAV',
    command: 'nginx',
    debianPackage: 'nginx-light libnginx-mod-http-dav-ext',
    listsFolders: () => existsSync(NGINX_DAV_MODULE),
    bodies: 'client_body',
    args: (folder, port) =>
      nginxArgs(folder, port, existsSync(NGINX_DAV_MODULE) ? NGINX_DAV_MODULE : undefined),
  },
  {
    name: 'rclone serve webdav',
    command: 'rclone',
    debianPackage: 'rclone',
    listsFolders: () => true,
    args: async (folder, port) => [
      'serve',
      'webdav',
      path.join(folder, 'files'),
      `--addr=127.0.0.1:${port}`,
      `--config=${path.join(folder, 'rclone.conf')}`,
      `--log-file=${path.join(folder, 'error.log')}`,
      '--log-level=ERROR',
    ],
  },
]

/** A WebDAV server in a child process, with a folder of its own. */
export class DavServer extends HttpTarget implements AsyncDisposable {
  readonly kind: DavKind
  readonly url: string
  readonly #program: HttpProgram
  readonly #folder: string

  private constructor(kind: DavKind, program: HttpProgram, folder: string) {
    super(program.url, program.child.pid ?? 0)
    this.kind = kind
    this.url = program.url
    this.#program = program
    this.#folder = folder
  }

  /**
   * Undefined if the program is not on the PATH.
   * @param fill puts files into its folder before it starts, so that it has nothing else cached
   */
  static async start(kind: DavKind, fill: (files: string) => Promise<void>): Promise<DavServer | undefined> {
    const program = findProgram(kind.command)
    if (program === undefined) return undefined
    // Not in the folder of the bench, which the account of Apache may not enter.
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-bench-dav-'))
    const files = path.join(folder, 'files')
    await mkdir(files)
    if (kind.bodies !== undefined) await mkdir(path.join(folder, kind.bodies))
    try {
      await fill(files)
      const argsFor = (port: number) => kind.args(folder, port)
      const started = await startHttpProgram(program, argsFor, path.join(folder, 'error.log'))
      return new DavServer(kind, started, folder)
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  /**
   * Runs `work` while everything that is stored in a folder is flushed before the response is sent, as far as the file system can do that.
   * Resolves to the result, and to whether it was flushed.
   */
  async flushing<T>(name: string, work: () => Promise<T>): Promise<{ result: T; flushed: boolean }> {
    const { bodies } = this.kind
    const ofBodies = bodies === undefined ? undefined : path.join(this.#folder, bodies)
    const ofFiles = path.join(this.#folder, 'files', name)
    const flushed =
      (await flushWrites(ofFiles, { entries: true })) &&
      (ofBodies === undefined || (await flushWrites(ofBodies, { entries: false })))
    const result = await work()
    for (const one of [ofFiles, ofBodies]) if (one !== undefined) await stopFlushing(one)
    return { result, flushed }
  }

  /** Flushes a stored file, so that the next measurement does not compete with its writeback. */
  async flush(name: string): Promise<void> {
    await using handle = await open(path.join(this.#folder, 'files', name))
    await handle.datasync()
  }

  /** Deletes a stored file; dirty pages are dropped, not written. */
  async remove(name: string): Promise<void> {
    await rm(path.join(this.#folder, 'files', name), { force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endProgram(this.#program)
    await rm(this.#folder, { recursive: true, force: true })
  }
}
