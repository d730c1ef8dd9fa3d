import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const exec = promisify(execFile)

/** A real desktop client with folders of its own. Disposing stops its daemon. */
export class SeafClient implements AsyncDisposable {
  readonly folder: string
  readonly #program: string
  readonly #account: readonly string[]

  private constructor(program: string, folder: string, account: readonly string[]) {
    this.#program = program
    this.folder = folder
    this.#account = account
  }

  static async start(
    program: string,
    folder: string,
    at: { url: string; email: string; password: string },
  ): Promise<SeafClient> {
    const account = ['-s', at.url, '-u', at.email, '-p', at.password]
    const client = new SeafClient(program, folder, account)
    await mkdir(path.join(folder, 'home'), { recursive: true })
    await mkdir(path.join(folder, 'parent'))
    await client.run('init', '-d', path.join(folder, 'parent'))
    await client.run('start')
    return client
  }

  async run(command: string, ...args: string[]): Promise<string> {
    const env = { ...process.env, HOME: path.join(this.folder, 'home') }
    const all = [command, '-c', path.join(this.folder, 'conf'), ...args]
    const { stdout } = await exec(this.#program, all, { env })
    return stdout.trim()
  }

  /** Makes a library and gives its id. */
  async create(name: string): Promise<string> {
    const said = await this.run('create', '-n', name, ...this.#account)
    return said.split('\n').at(-1) ?? ''
  }

  /** Keeps a folder that is there in sync with a library. */
  async join(library: string, folder: string): Promise<void> {
    await this.run('sync', '-l', library, '-d', folder, ...this.#account)
  }

  /** Clones a library into a new folder below `into`. */
  async clone(library: string, into: string): Promise<void> {
    await this.run('download', '-l', library, '-d', into, ...this.#account)
  }

  /** What the client says about its libraries, and the end of its log: for a test that failed. */
  async report(): Promise<string> {
    const log = await readFile(path.join(this.folder, 'conf/logs/seafile.log'), 'utf8')
    return `${await this.run('status')}\n${log.split('\n').slice(-15).join('\n')}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run('stop').catch(() => {})
    for (const pid of await this.#daemons()) process.kill(pid, 'SIGKILL')
    await rm(path.join(this.folder, 'conf'), { recursive: true, force: true })
  }

  /** The daemons that run in this client's folder: it detaches itself, so nobody else knows its number. */
  async #daemons(): Promise<number[]> {
    const found: number[] = []
    for (const pid of await readdir('/proc')) {
      if (!/^\d+$/.test(pid)) continue
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      if (command.startsWith('seaf-daemon') && command.includes(this.folder)) found.push(Number(pid))
    }
    return found
  }
}
