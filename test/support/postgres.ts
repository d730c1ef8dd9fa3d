import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { chmod, chown, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { chooseServerAccount, findPostgresBinaries } from './postgres-binaries.ts'

/** A PostgreSQL server for tests. Disposal stops it, or drops the created databases of a shared one. */
export interface PostgresServer extends AsyncDisposable {
  /** Connection string of the administrator, who may create databases. */
  readonly adminUrl: string
  /** Creates an empty database and returns its connection string. */
  createDatabase(): Promise<string>
  /** Creates a database with the current schema, from the template of the test run if its server is this one. */
  createWithSchema(): Promise<string>
  /** Creates a copy of a database that nobody is connected to. */
  copyDatabase(url: string): Promise<string>
}

/** Free memory that the databases of a run require to be there. */
const MEMORY_BYTES = 4 * 2 ** 30

export class PostgresUnavailable extends Error {
  override readonly name = 'PostgresUnavailable'
}

export interface StartOptions {
  /** False unless a test is about durability. */
  readonly fsync?: boolean
  /**
   * For a whole test run. Test processes use its binaries, because copying them, as root, takes a second. Its data is in memory where
   * there is enough: creating and dropping a database for each server takes less CPU time there.
   */
  readonly forRun?: boolean
  /** No server that other tests use at the same time: transactions in any database end on it as seen by all. */
  readonly alone?: boolean
}

/**
 * Uses the server named in CARREL_TEST_POSTGRES, otherwise starts one on a free port with its data in a temporary folder. It ends
 * with this process, even if that is killed. Throws PostgresUnavailable with the reason if it cannot be started.
 */
export async function startPostgres(options: StartOptions = {}): Promise<PostgresServer> {
  const shared = process.env.CARREL_TEST_POSTGRES
  return shared && !options.alone ? new Server(shared) : startOwn(options)
}

/** Starts the server, or skips the test and returns undefined. With CI=true it fails instead. */
export async function postgresOrSkip(t: {
  skip(message?: string): void
}): Promise<PostgresServer | undefined> {
  const found = await findPostgres()
  if (typeof found !== 'string') return found
  t.skip(found)
  return undefined
}

/** Starts the server for a suite, or returns the reason why it cannot. With CI=true it throws instead. */
export async function findPostgres(options?: StartOptions): Promise<PostgresServer | string> {
  try {
    return await startPostgres(options)
  } catch (error) {
    if (!(error instanceof PostgresUnavailable) || process.env.CI === 'true') throw error
    return error.message
  }
}

/**
 * Connects once, so that the server stores what every connection to a database loads first. Copies of the database have it, too:
 * otherwise the first connection to each of them computes it.
 */
export async function warmUp(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.end()
}

class Server implements PostgresServer {
  readonly adminUrl: string
  readonly #stop: (() => Promise<void>) | undefined
  readonly #databases: string[] = []
  /** Copying files takes a quarter of the CPU time of copying through the log, but syncs each file where syncs are on. */
  readonly #strategy: 'file_copy' | 'wal_log'

  constructor(adminUrl: string, { fsync = false, stop }: StartOptions & { stop?: () => Promise<void> } = {}) {
    this.adminUrl = adminUrl
    this.#stop = stop
    this.#strategy = fsync ? 'wal_log' : 'file_copy'
  }

  createDatabase(): Promise<string> {
    return this.#create('template0')
  }

  createWithSchema(): Promise<string> {
    const template = process.env['CARREL_TEST_POSTGRES_TEMPLATE']
    return this.#create((this.#stop === undefined && template) || 'template0')
  }

  copyDatabase(url: string): Promise<string> {
    return this.#create(new URL(url).pathname.slice(1))
  }

  async #create(template: string): Promise<string> {
    const name = `carrel_test_${randomBytes(8).toString('hex')}`
    await this.#administer([
      `create database ${name} encoding 'UTF8' template ${template} strategy ${this.#strategy}`,
    ])
    this.#databases.push(name)
    const url = new URL(this.adminUrl)
    url.pathname = `/${name}`
    return url.href
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stop) return this.#stop()
    await this.#administer(
      this.#databases.splice(0).map((name) => `drop database if exists ${name} with (force)`),
    )
  }

  async #administer(statements: readonly string[]): Promise<void> {
    const client = new Client({ connectionString: this.adminUrl })
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
}

// A supervisor between the test process and the server. It stops the server when its standard input closes, which also happens when
// the test process is killed, and exits when the server does.
const keeper = `
  bin=$1 folder=$2 port=$3 fsync=$4 binaries=$5
  exec 3<&0
  if "$bin/initdb" -D "$folder/data" -U postgres --pwfile="$folder/password" --auth=password \
      --encoding=UTF8 --no-locale --no-sync >&2 3<&-
  then
    "$bin/postgres" -D "$folder/data" -c port="$port" -c listen_addresses=127.0.0.1 \
      -c unix_socket_directories= -c fsync="$fsync" -c full_page_writes="$fsync" -c shared_buffers=32MB -c max_connections=200 \
      -c max_wal_size=256MB -c autovacuum=off 3<&- &
    server=$!
    (cat <&3 >/dev/null; kill -QUIT $server 2>/dev/null) >/dev/null 2>&1 &
    wait $server
  fi
  rm -rf "$folder" $binaries
`

async function startOwn({ fsync = true, forRun = false }: StartOptions): Promise<PostgresServer> {
  const { account, bin, temporary } = await findProgram()
  const folder = await mkdtemp(path.join(forRun ? await memoryFolder() : os.tmpdir(), 'carrel-postgres-'))
  const password = randomBytes(12).toString('hex')
  await writeFile(path.join(folder, 'password'), password, { mode: 0o600 })
  await chmod(folder, 0o700)
  if (account) {
    await chown(path.join(folder, 'password'), account.uid, account.gid)
    await chown(folder, account.uid, account.gid)
  }
  const port = await findFreePort()
  const settings = [bin, folder, String(port), fsync ? 'on' : 'off', temporary ?? '']
  const child = spawn('/bin/sh', ['-c', keeper, 'postgres-keeper', ...settings], {
    ...account,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  })
  const stop = async () => {
    await stopKeeper(child)
    for (const place of temporary ? [folder, temporary] : [folder]) {
      await rm(place, { recursive: true, force: true })
    }
  }
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  try {
    await untilReady(child)
    await hashQuickly(url, password)
  } catch (error) {
    await stop()
    throw error
  }
  if (forRun) process.env['CARREL_TEST_POSTGRES_BINARIES'] = bin
  return new Server(url, { fsync, stop })
}

/** A folder in memory if it has room for the databases of a run, which take some hundred MB; otherwise the one for temporary files. */
async function memoryFolder(): Promise<string> {
  const folder = '/dev/shm'
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize >= MEMORY_BYTES ? folder : os.tmpdir()
}

/** Hashes the password once instead of 4,096 times, which would take 10 to 20 ms of CPU time for each connection of a run. */
async function hashQuickly(url: string, password: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(
      `do $$ begin
        -- Earlier versions have no such setting.
        if current_setting('server_version_num')::int >= 160000 then
          perform set_config('scram_iterations', '1', false);
          alter role postgres password '${password}';
        end if;
      end $$`,
    )
  } finally {
    await client.end()
  }
}

export async function findProgram() {
  try {
    const account = await chooseServerAccount()
    return { account, ...(await findPostgresBinaries(account)) }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new PostgresUnavailable(`PostgreSQL cannot be started here: ${reason}`, { cause })
  }
}

export function untilReady(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let output = ''
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (text: string) => {
    output = (output + text).slice(-8000)
    if (/database system is ready to accept (?:read-only )?connections/.test(output)) resolve()
  })
  child.once('error', (cause) => reject(new PostgresUnavailable('PostgreSQL cannot be started.', { cause })))
  child.once('exit', () => reject(new PostgresUnavailable(`PostgreSQL ended at once:\n${output}`)))
  return promise.finally(() => unrefChild(child))
}

// A server that was not disposed of does not keep the test process alive, and ends with it.
function unrefChild(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stderr]) if (stream instanceof net.Socket) stream.unref()
}

async function stopKeeper(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.ref()
  child.once('exit', () => resolve())
  child.stdin?.end()
  await promise
}

/** Linux gives outgoing connections, and listeners that do not care, ports from 32768 on. */
const PORTS = [20_000, 32_768] as const

/** A port that nobody listens at, and that no connection takes before the caller does, or while the caller is stopped. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const server = net.createServer()
  server.once('error', (error) => {
    if ('code' in error && error.code === 'EADDRINUSE') resolve(false)
    else reject(error)
  })
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}
