import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'

const exec = promisify(execFile)

// The daemon detaches itself, so it is found by its folder alone. When this shell's standard input closes, which also happens when the
// test process is killed, it kills what runs in the folder.
const keeper = `
  cat >/dev/null
  for process in /proc/[0-9]*; do
    if tr '\\0' ' ' <"$process/cmdline" | grep -qF "seaf-daemon --daemon -c $1/conf "
    then kill -KILL "\${process#/proc/}"
    fi
  done 2>/dev/null
`

/** A real desktop client with folders of its own. Disposal stops its daemon, and so does the end of this process. */
export class SeafClient implements AsyncDisposable {
  readonly folder: string
  readonly #program: string
  readonly #account: readonly string[]
  readonly #keeper: ChildProcess

  private constructor(program: string, folder: string, account: readonly string[]) {
    this.#program = program
    this.folder = folder
    this.#account = account
    this.#keeper = spawn('/bin/sh', ['-c', keeper, 'seaf-keeper', folder], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#keeper.unref()
    if (this.#keeper.stdin instanceof Socket) this.#keeper.stdin.unref()
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
    await client.#answers()
    return client
  }

  /** Waits for the socket of the daemon, which detaches before it listens. */
  async #answers(): Promise<void> {
    for (let looks = 0; ; looks += 1) {
      try {
        await this.run('status')
        return
      } catch (error) {
        if (looks === 300) throw new Error('the client did not listen for a minute', { cause: error })
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
  }

  async run(command: string, ...args: string[]): Promise<string> {
    const env = { ...process.env, HOME: path.join(this.folder, 'home') }
    const all = [command, '-c', path.join(this.folder, 'conf'), ...args]
    const { stdout } = await exec(this.#program, all, { env })
    return stdout.trim()
  }

  /** Creates a library, encrypted if there is a password, and returns its id. */
  async create(name: string, password?: string): Promise<string> {
    const said = await this.run('create', '-n', name, ...this.#account, ...opening(password))
    return said.split('\n').at(-1) ?? ''
  }

  /** Syncs an existing folder with a library. */
  async join(library: string, folder: string, password?: string): Promise<void> {
    await this.#taken('sync', '-l', library, '-d', folder, ...this.#account, ...opening(password))
  }

  /** Clones a library into a new folder below `into`. */
  async clone(library: string, into: string, password?: string): Promise<void> {
    await this.#taken('download', '-l', library, '-d', into, ...this.#account, ...opening(password))
  }

  /** Sends a task to the daemon. It accepts calls a moment before it accepts tasks, and until then drops tasks with a log line. */
  async #taken(...command: [string, ...string[]]): Promise<void> {
    for (let looks = 0; ; looks += 1) {
      const before = await this.#dropped()
      await this.run(...command)
      if ((await this.#dropped()) === before) return
      if (looks === 300) throw new Error('the client took no task for a minute')
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  async #dropped(): Promise<number> {
    return (await this.log()).split('System not started').length
  }

  /** The log of its daemon. */
  log(): Promise<string> {
    return readFile(path.join(this.folder, 'conf/logs/seafile.log'), 'utf8')
  }

  /** The status of its libraries and the end of its log, for the message of a failed test. */
  async report(): Promise<string> {
    return `${await this.run('status')}\n${(await this.log()).split('\n').slice(-15).join('\n')}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run('stop').catch(() => {})
    const ended = once(this.#keeper, 'exit')
    this.#keeper.ref()
    this.#keeper.stdin?.end()
    await ended
    await rm(path.join(this.folder, 'conf'), { recursive: true, force: true })
  }
}

function opening(password: string | undefined): string[] {
  return password === undefined ? [] : ['-e', password]
}

/** Lists everything below a folder: files with hash and executable bit, and folders. */
export async function treeOf(root: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const full = path.join(entry.parentPath, entry.name)
    const name = path.relative(root, full)
    if (entry.isDirectory()) found[name] = 'folder'
    else if (entry.isFile()) {
      const { mode } = await stat(full)
      const hash = createHash('sha1').update(await readFile(full))
      found[name] = `${hash.digest('hex')}${mode & 0o100 ? ' x' : ''}`
    }
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Polls until clients have reached a state, for four minutes or longer on a busy machine. Seldom, because checks read whole folders. */
export async function until(
  what: string,
  clients: readonly SeafClient[],
  check: () => Promise<void>,
): Promise<void> {
  for (let looks = 0, pauseMs = 200; ; looks += 1, pauseMs = Math.min(pauseMs * 1.3, 1500)) {
    try {
      return await check()
    } catch (error) {
      if (looks === 180) {
        for (const client of clients) console.error(await client.report())
        throw new Error(`the clients did not come to it: ${what}`, { cause: error })
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
