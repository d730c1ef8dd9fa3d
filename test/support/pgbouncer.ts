import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findProgram } from '../../bin/system-programs.ts'
import { findFreePort } from './postgres.ts'
import { chooseServerAccount } from './postgres-binaries.ts'

/** PgBouncer in transaction mode in front of one database. */
export interface Pooler extends AsyncDisposable {
  readonly url: string
}

/** Undefined if it is not installed. Few server connections are shared by all clients. */
export async function startPgBouncer(target: string, serverConnections: number): Promise<Pooler | undefined> {
  const program = findProgram('pgbouncer')
  if (program === undefined) return undefined
  const { hostname, port, username, password, pathname } = new URL(target)
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-pgbouncer-'))
  const account = await chooseServerAccount()
  const listening = await findFreePort()
  const file = path.join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `library = host=${hostname} port=${port} dbname=${pathname.slice(1)} user=${username} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listening}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${serverConnections}`,
    'max_client_conn = 200',
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  await chmod(folder, 0o755)
  if (account) for (const place of [file, folder]) await chown(place, account.uid, account.gid)
  const child = spawn(program, ['-q', file], { ...account, cwd: '/', stdio: 'ignore' })
  const exited = once(child, 'exit')
  const onExit = () => child.kill('SIGKILL')
  process.once('exit', onExit)
  await untilListening(listening)
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${listening}/library`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
      process.off('exit', onExit)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch (cause) {
      if (attempt === 100) throw new Error('PgBouncer does not listen.', { cause })
      await delay(50)
    } finally {
      socket.destroy()
    }
  }
}
