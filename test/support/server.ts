import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { cpSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { readConfig } from '../../src/base/config/index.ts'
import { createLogger, type Logger } from '../../src/base/logging.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { parseEmail } from '../../src/people/accounts/account.ts'
import { insertAccount } from '../../src/people/accounts/account-store.ts'
import { Passwords } from '../../src/people/passwords/passwords.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { type RunningServer, startServer as start } from '../../src/programs/server/server.ts'
import type { ServerProcess } from '../../src/programs/server/server-process.ts'
import { Client } from './client.ts'
import { clusterSettings, TEST_NODES, TEST_SERVER_PROCESSES } from './cluster-settings.ts'
import { observeExchanges } from './exchanges.ts'
import { createLocalLocks } from './local-locks.ts'
import { plainSettings } from './plain-settings.ts'
import { startPostgres } from './postgres.ts'
import { startRoundRobinProxy } from './round-robin-proxy.ts'

export interface TestServerOptions {
  /** Additional settings, as environment variables. */
  readonly env?: Record<string, string>
  /** Unix seconds. */
  readonly now?: () => number
  /** Seconds that passed, whatever `now` says. Without this, every time is trusted. */
  readonly monotonic?: () => number
  /** For tests that read the log. */
  readonly logger?: Logger
  /** An existing data folder, which is not deleted. */
  readonly data?: string
  /** Hashes passwords as slowly as a server does, for tests about many of them. So do servers that limit rates. */
  readonly hashesSlowly?: boolean
  /** Another server may run on the same data folder. */
  readonly sharesDataFolder?: boolean
}

/** A real server on a free port with a data folder of its own. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  readonly data: string
  /** Undefined for SQLite in the data folder. */
  readonly databaseUrl: string | undefined
  readonly running: RunningServer
  /** All servers, if there are several nodes or processes. */
  readonly nodes: readonly RunningServer[]
  /** Not signed in. */
  readonly anonymous: Client
  /** The administrator of the first run. */
  admin(): Promise<Client>
  /** A new account, signed in. */
  signUp(options?: {
    email?: string
    password?: string
    role?: 'default' | 'guest' | 'admin'
  }): Promise<Client>
}

export const ADMIN = { email: 'admin@example.org', password: 'correct horse battery' }

let signedUp = 0

/** The least that argon2 accepts. At full cost a hash takes 50 ms of CPU time, and each first start and each sign-in makes one. */
const CHEAP_PASSWORDS = { memory: 8, passes: 1, parallelism: 1 }

/** Limits of rates are about slow hashes, too. */
const areHashesSlow = ({ hashesSlowly, env = {} }: TestServerOptions) =>
  hashesSlowly === true || env['CARREL_RATE_LIMIT'] === 'on'

const hashers = { cheap: new Passwords({ cost: CHEAP_PASSWORDS }), slow: new Passwords() }
const hashes = new Map<string, Promise<string>>()

/** Cached, because most test accounts have the same password. */
function hashOf(password: string, options: TestServerOptions): Promise<string> {
  const kind = areHashesSlow(options) ? 'slow' : 'cheap'
  const key = `${kind} ${password}`
  const known = hashes.get(key) ?? hashers[kind].hash(password, 'tests')
  hashes.set(key, known)
  return known
}

/**
 * Prepared data folders, which cut the CPU time of a start to a third: `sqlite` has been started once, so it has an administrator;
 * `schema` is for tests with a clock or an administrator of their own; `postgres` has the block folders alone.
 */
type Template = 'sqlite' | 'schema' | 'postgres'

function templateFor({ now, env = {} }: TestServerOptions): Template {
  if (process.env['CARREL_TEST_DATABASE'] === 'postgres' || 'CARREL_DATABASE' in env) return 'postgres'
  const hasOwnFirstRun =
    now !== undefined ||
    // The database that has been started once belongs to a block store on disk.
    'CARREL_BLOCKS' in env ||
    Object.keys(env).some((name) => name.startsWith('CARREL_ADMIN'))
  return hasOwnFirstRun ? 'schema' : 'sqlite'
}

/** Creates the templates, and names their folder in the environment of test processes. */
export async function createTemplates(): Promise<AsyncDisposable> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-templates-'))
  const pathOf = (template: Template) => path.join(folder, template)
  const server = await startServer({ data: pathOf('sqlite') })
  await server[Symbol.asyncDispose]()
  // Each server creates its own.
  await rm(path.join(pathOf('sqlite'), 'secret'))
  const filter = (source: string) => !/\.db(?:-\w+)?$/.test(source)
  for (const other of ['schema', 'postgres'] as const) {
    await cp(pathOf('sqlite'), pathOf(other), { recursive: true, filter })
  }
  const file = path.join(pathOf('schema'), 'carrel.db')
  const database = await openDatabase({ kind: 'sqlite', file }, { onFatal: (error) => assert.fail(error) })
  await database[Symbol.asyncDispose]()
  process.env['CARREL_TEST_TEMPLATES'] = folder
  return { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

async function createDataFolder(options: TestServerOptions): Promise<string> {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-test-'))
  const templates = process.env['CARREL_TEST_TEMPLATES']
  if (templates !== undefined) cpSync(path.join(templates, templateFor(options)), data, { recursive: true })
  return data
}

/**
 * Starts a server; `await using` stops it and removes its data. With CARREL_TEST_DATABASE=postgres it runs on a fresh PostgreSQL
 * database, so that every suite over HTTP can be run on both. With CARREL_TEST_NODES=3 there are three servers on that database behind a
 * proxy, with blocks in S3: each request reaches the next one. `running` and `data` are those of the first. With CARREL_TEST_SERVER_PROCESSES=2
 * there are two on one SQLite file and one data folder, as `CARREL_PROCESSES=2` starts them, also behind that proxy.
 */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  await using opened = new AsyncDisposableStack()
  const onPostgres = process.env['CARREL_TEST_DATABASE'] === 'postgres' && options.data === undefined
  const isCluster = onPostgres && TEST_NODES > 1 && !hasOwnStores(options)
  const postgres = onPostgres ? opened.use(await startPostgres()) : undefined
  const common = {
    ...(postgres && { CARREL_DATABASE: await postgres.createWithSchema() }),
    ...(isCluster ? await clusterSettings() : plainSettings()),
  }
  const processes = onPostgres || hasOwnStores(options) ? 1 : TEST_SERVER_PROCESSES
  const newProcess = processes > 1 ? createProcesses(processes) : () => undefined
  const first = await startNode(options, common, opened, newProcess())
  const { data, databaseUrl, running } = first
  const others: RunningServer[] = []
  for (let node = 2; node <= (isCluster ? TEST_NODES : 1); node++) {
    others.push((await startNode(options, common, opened)).running)
  }
  for (let number = 2; number <= processes; number++) {
    others.push((await startNode({ ...options, data }, common, opened, newProcess())).running)
  }
  const nodes = [running, ...others]
  const urls = nodes.map(({ listening }) => listening.url)
  const url = others.length > 0 ? opened.use(await startRoundRobinProxy(urls)).url : running.listening.url
  for (const one of new Set([url, ...urls])) observeExchanges(one)
  const kept = opened.move()
  return {
    url,
    data,
    databaseUrl,
    running,
    nodes,
    anonymous: new Client(url),
    admin: () => Client.signIn(url, ADMIN.email, ADMIN.password),
    async signUp({
      email = `user${++signedUp}@example.org`,
      password = 'a long password',
      role = 'default',
    } = {}) {
      const { accounts, apiTokens, core, directory } = running.services
      const known = parseEmail(email) ?? assert.fail(`${email} is none`)
      const hash = await hashOf(password, options)
      const row = { email: known, role, active: 1, password_hash: hash, created_at: core.now() }
      assert.ok(await dbOf(core).write((tx) => insertAccount(tx, row)), `${email} is taken`)
      directory.invalidate(known)
      const account = await accounts.get(email)
      const token = await apiTokens.issue(account, undefined, undefined, { withPassword: true })
      return new Client(url, token, email)
    },
    async [Symbol.asyncDispose]() {
      // Before the proxy, so that clients see how the servers end their connections.
      await Promise.all(nodes.map((node) => node.close()))
      await kept.disposeAsync()
    },
  }
}

/** Whether a test chooses where blocks are stored, so that its server cannot be one of several. */
const hasOwnStores = ({ env = {}, sharesDataFolder }: TestServerOptions) =>
  sharesDataFolder === true || 'CARREL_BLOCKS' in env || 'CARREL_DISK' in env || 'CARREL_SECRET' in env

/** The parts of processes on one data folder, which run in this one. Each call returns that of one more. */
function createProcesses(count: number): () => ServerProcess {
  const newLocks = createLocalLocks()
  let number = 0
  return () => {
    number += 1
    return { number, count, nodeId: randomUUID(), isAlone: number === 1, locks: newLocks() }
  }
}

interface StartedNode {
  readonly data: string
  readonly databaseUrl: string | undefined
  readonly running: RunningServer
}

async function startNode(
  options: TestServerOptions,
  common: Record<string, string>,
  opened: AsyncDisposableStack,
  process?: ServerProcess,
): Promise<StartedNode> {
  const data = options.data ?? (await createDataFolder({ ...options, env: { ...common, ...options.env } }))
  if (options.data === undefined) opened.defer(() => rm(data, { recursive: true, force: true }))
  const config = readConfig({
    env: {
      CARREL_PORT: '0',
      CARREL_RATE_LIMIT: 'off',
      // The PostgreSQL of the test run does not flush.
      CARREL_UNSAFE_STORAGE: 'allow',
      CARREL_ADMIN_EMAIL: ADMIN.email,
      CARREL_ADMIN_PASSWORD: ADMIN.password,
      CARREL_LOG: 'error',
      CARREL_TEST_RESERVE_MB: '0',
      CARREL_DATA: data,
      ...common,
      ...options.env,
    },
    cwd: data,
  })
  const running = await start({
    config,
    logger: options.logger ?? createLogger(config.log, { pretty: false }),
    ...(options.now && { now: options.now }),
    ...(options.monotonic && { monotonic: options.monotonic }),
    ...(options.sharesDataFolder && { sharesDataFolder: true }),
    ...(!areHashesSlow(options) && { passwordCost: CHEAP_PASSWORDS }),
    ...(process && { process }),
    onFatal(error) {
      throw error
    },
  })
  opened.defer(() => running.close())
  return {
    data,
    databaseUrl: config.database.kind === 'postgres' ? config.database.url : undefined,
    running,
  }
}
