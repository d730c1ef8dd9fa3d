import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { findFreePort, findProgram, untilReady } from './postgres.ts'
import { processTree, signalTree } from './process-tree.ts'

const run = promisify(execFile)

// Standard input that closes without a stop command means that the test process is gone: the data is deleted.
const keeper = `
  bin=$1 folder=$2 port=$3 binaries=$4
  exec 3<&0
  "$bin/postgres" -D "$folder/data" -c port="$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
    -c fsync=off -c shared_buffers=16MB -c max_connections=50 -c autovacuum=off 3<&- &
  server=$!
  (read -r order <&3; [ "$order" = stop ] || touch "$folder/abandoned"; kill -INT $server 2>/dev/null) >/dev/null 2>&1 &
  wait $server
  if [ -e "$folder/abandoned" ]; then rm -rf "$folder" $binaries; fi
`

/**
 * A PostgreSQL server whose data can be restored to an earlier state under the same address, as after a failover to a lagging
 * replica, or the restore of a backup.
 */
export class RestorablePostgres implements AsyncDisposable {
  readonly url: string
  readonly #start: () => Promise<ChildProcess>
  readonly #folder: string
  readonly #temporary: string | undefined
  #keeper: ChildProcess | undefined

  private constructor(
    url: string,
    folder: string,
    temporary: string | undefined,
    start: () => Promise<ChildProcess>,
  ) {
    this.url = url
    this.#folder = folder
    this.#temporary = temporary
    this.#start = start
  }

  /** Throws PostgresUnavailable with the reason if it cannot be started. */
  static async create(): Promise<RestorablePostgres> {
    const { account, bin, temporary } = await findProgram()
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-restorable-'))
    const password = randomBytes(12).toString('hex')
    const passwordFile = path.join(folder, 'password')
    await writeFile(passwordFile, password, { mode: 0o600 })
    await chmod(folder, 0o700)
    if (account) for (const place of [passwordFile, folder]) await chown(place, account.uid, account.gid)
    const options = { ...account, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } }
    const data = path.join(folder, 'data')
    const settings = ['-U', 'postgres', `--pwfile=${passwordFile}`, '--auth=password', '--encoding=UTF8']
    await run(path.join(bin, 'initdb'), ['-D', data, ...settings, '--no-locale', '--no-sync'], options)
    const port = await findFreePort()
    const start = async () => {
      const args = [bin, folder, String(port), temporary ?? '']
      const child = spawn('/bin/sh', ['-c', keeper, 'postgres-keeper', ...args], {
        ...options,
        detached: true,
        stdio: ['pipe', 'ignore', 'pipe'],
      })
      await untilReady(child)
      return child
    }
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
    const server = new RestorablePostgres(url, folder, temporary, start)
    await server.start()
    return server
  }

  async start(): Promise<void> {
    this.#keeper = await this.#start()
  }

  /** Fast shutdown: connections are closed. */
  async stop(): Promise<void> {
    const child = this.#keeper
    this.#keeper = undefined
    if (child === undefined || child.exitCode !== null) return
    child.ref()
    const exited = once(child, 'exit')
    child.stdin?.end('stop\n')
    await exited
  }

  /** Kills all its processes at once and starts it again. What was committed and not flushed is lost. */
  async crash(): Promise<void> {
    const child = this.#keeper
    if (child === undefined) throw new Error('The server does not run.')
    child.ref()
    const exited = once(child, 'exit')
    // Not the keeper, which waits for the server: a process that nobody has waited for still counts as running.
    for (const pid of processTree(this.#pid).slice(1)) signalTree(pid, 'SIGKILL')
    await exited
    await this.start()
  }

  /** Stops all its processes with SIGSTOP. Connections stay open, and nothing is answered. */
  freeze(): void {
    signalTree(this.#pid, 'SIGSTOP')
  }

  thaw(): void {
    signalTree(this.#pid, 'SIGCONT')
  }

  get #pid(): number {
    const pid = this.#keeper?.pid
    if (pid === undefined) throw new Error('The server does not run.')
    return pid
  }

  /** Copies the data of a stopped server. */
  async save(): Promise<void> {
    await this.#copy('data', 'saved')
  }

  /** Restores the saved data of a stopped server. */
  async restore(): Promise<void> {
    await this.#copy('saved', 'data')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    for (const place of [this.#folder, this.#temporary])
      if (place !== undefined) await rm(place, { recursive: true, force: true })
  }

  async #copy(from: string, to: string): Promise<void> {
    const [source, target] = [path.join(this.#folder, from), path.join(this.#folder, to)]
    await rm(target, { recursive: true, force: true })
    // Not `cp` of node:fs, which does not keep owners.
    await run('cp', ['-a', source, target])
  }
}
