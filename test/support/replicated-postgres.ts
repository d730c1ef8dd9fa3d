import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { findFreePort, findProgram, untilReady } from './postgres.ts'
import { signalTree } from './process-tree.ts'

const run = promisify(execFile)

// The server ends when standard input closes, which also happens when the test process is killed.
const keeper = `
  exec 3<&0
  "$@" 3<&- &
  server=$!
  (cat <&3 >/dev/null; kill -QUIT $server 2>/dev/null) >/dev/null 2>&1 &
  wait $server
`

/** A primary and a synchronous standby. */
export class ReplicatedPostgres implements AsyncDisposable {
  /** With both hosts, the standby first. */
  readonly url: string
  readonly primaryUrl: string
  readonly standbyUrl: string
  readonly #primary: ChildProcess
  readonly #stack: AsyncDisposableStack

  private constructor(
    url: string,
    primaryUrl: string,
    standbyUrl: string,
    primary: ChildProcess,
    stack: AsyncDisposableStack,
  ) {
    this.url = url
    this.primaryUrl = primaryUrl
    this.standbyUrl = standbyUrl
    this.#primary = primary
    this.#stack = stack
  }

  static async create(): Promise<ReplicatedPostgres> {
    const { account, bin, temporary } = await findProgram()
    await using building = new AsyncDisposableStack()
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-replicated-'))
    for (const place of [folder, temporary])
      if (place !== undefined) building.defer(() => rm(place, { recursive: true, force: true }))
    const password = randomBytes(12).toString('hex')
    const passwordFile = path.join(folder, 'password')
    await writeFile(passwordFile, password, { mode: 0o600 })
    await chmod(folder, 0o700)
    if (account) for (const place of [passwordFile, folder]) await chown(place, account.uid, account.gid)
    const options = { ...account, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } }
    const [first, second] = [path.join(folder, 'first'), path.join(folder, 'second')]
    const settings = ['-U', 'postgres', `--pwfile=${passwordFile}`, '--auth=password', '--encoding=UTF8']
    await run(path.join(bin, 'initdb'), ['-D', first, ...settings, '--no-locale', '--no-sync'], options)
    // A copy of a cluster that was never started is a base backup of it.
    await run('cp', ['-a', first, second])
    const [port, standbyPort] = [await findFreePort(), await findFreePort()]
    await appendFile(path.join(first, 'postgresql.conf'), `synchronous_standby_names = '*'\n`)
    const origin = `host=127.0.0.1 port=${port} user=postgres password=${password}`
    await appendFile(path.join(second, 'postgresql.conf'), `primary_conninfo = '${origin}'\n`)
    await run('touch', [path.join(second, 'standby.signal')], options)
    const start = async (data: string, at: number) => {
      const common = [
        'listen_addresses=127.0.0.1',
        'unix_socket_directories=',
        'fsync=off',
        'shared_buffers=16MB',
      ]
      const args = ['-D', data, ...[`port=${at}`, ...common].flatMap((setting) => ['-c', setting])]
      const command = ['-c', keeper, 'postgres-keeper', path.join(bin, 'postgres'), ...args]
      const child = spawn('/bin/sh', command, {
        ...options,
        detached: true,
        stdio: ['pipe', 'ignore', 'pipe'],
      })
      building.defer(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.ref()
        const exited = once(child, 'exit')
        child.stdin?.end()
        await exited
      })
      await untilReady(child)
      return child
    }
    const primary = await start(first, port)
    const { stderr } = await start(second, standbyPort).then((child) => child)
    stderr?.resume()
    const urlOf = (hosts: string) => `postgres://postgres:${password}@${hosts}/postgres`
    const [here, there] = [`127.0.0.1:${port}`, `127.0.0.1:${standbyPort}`]
    const url = `${urlOf(`${there},${here}`)}?target_session_attrs=read-write`
    return new ReplicatedPostgres(url, urlOf(here), urlOf(there), primary, building.move())
  }

  /** Kills all processes of the primary at once. */
  async killPrimary(): Promise<void> {
    const exited = once(this.#primary, 'exit')
    this.#primary.ref()
    if (this.#primary.pid !== undefined) signalTree(this.#primary.pid, 'SIGKILL')
    await exited
  }

  /** Stops all processes of the primary. Connections stay open, and nothing is answered. To be killed before the end. */
  freezePrimary(): void {
    if (this.#primary.pid !== undefined) signalTree(this.#primary.pid, 'SIGSTOP')
  }

  async promote(): Promise<void> {
    const client = new Client({ connectionString: this.standbyUrl })
    await client.connect()
    try {
      await client.query('select pg_promote()')
    } finally {
      await client.end()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}
