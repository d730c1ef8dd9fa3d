import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findProgram } from '../../bin/system-programs.ts'
import { HttpTarget } from '../http-target.ts'
import { nginxConf } from './nginx-conf.ts'

const ATTEMPTS = 3
const START_MS = 10_000

/** nginx in a child process: static GET and DAV PUT, without flushes and without a log. */
export class Nginx extends HttpTarget implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #folder: string

  private constructor(child: ChildProcess, url: string, folder: string) {
    super(url, child.pid ?? 0)
    this.#child = child
    this.#folder = folder
  }

  /** Undefined if nginx is not on the PATH. */
  static async start(parent: string): Promise<Nginx | undefined> {
    const program = findProgram('nginx')
    if (program === undefined) return undefined
    const folder = await mkdtemp(path.join(parent, 'nginx-'))
    await mkdir(path.join(folder, 'files'))
    for (let attempt = 1; ; attempt++) {
      const port = await freePort()
      const child = await startOn(program, folder, port)
      if (child !== undefined) return new Nginx(child, `http://127.0.0.1:${port}`, folder)
      if (attempt < ATTEMPTS) continue
      const log = await readFile(path.join(folder, 'error.log'), 'utf8').catch(() => '')
      throw new Error(`nginx does not start: ${log.trim()}`)
    }
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
    await end(this.#child)
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** Undefined if it exited at once, for example because the port was taken. */
async function startOn(program: string, folder: string, port: number): Promise<ChildProcess | undefined> {
  const conf = path.join(folder, 'nginx.conf')
  await writeFile(conf, nginxConf(folder, port))
  const args = ['-c', conf, '-p', folder, '-e', path.join(folder, 'error.log')]
  const child = spawn(program, args, { stdio: 'ignore' })
  const onExit = () => child.kill('SIGTERM')
  process.once('exit', onExit)
  child.once('exit', () => process.off('exit', onExit))
  for (const deadline = Date.now() + START_MS; child.exitCode === null; await delay(5)) {
    if (await answers(port)) return child
    if (Date.now() < deadline) continue
    await end(child)
    throw new Error('nginx did not answer within ten seconds')
  }
  return undefined
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

async function freePort(): Promise<number> {
  await using server = net.createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
