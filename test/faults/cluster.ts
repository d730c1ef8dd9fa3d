import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Client as PostgresClient } from 'pg'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { ClockShim } from '../support/clock-shim.ts'
import { carrel } from '../support/command.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { findFreePort } from '../support/postgres.ts'
import { PostgresProxy } from '../support/postgres-proxy.ts'
import { signalTree } from '../support/process-tree.ts'
import { ReplicatedPostgres } from '../support/replicated-postgres.ts'
import { RestorablePostgres } from '../support/restorable-postgres.ts'
import { startReverseProxy } from '../support/reverse-proxy.ts'
import type { S3Endpoint } from '../support/s3.ts'
import { type S3Proxy, startS3Proxy } from '../support/s3-proxy.ts'

/** How the nodes of a cluster are connected. */
export interface Setup {
  /** PostgreSQL is a primary with a synchronous standby. */
  readonly replicated?: true
  /** PgBouncer in transaction mode is between the nodes and PostgreSQL. */
  readonly pooled?: true
  /** Clients reach the nodes through this proxy only, so a failed request is an error and not retried at another node. */
  readonly behind?: 'nginx' | 'haproxy'
  /** The clock of each node minus the true one, in seconds. */
  readonly clocks?: readonly number[]
  /** Size of the disk of the first node, which holds its block cache. */
  readonly diskMegabytes?: number
}

const NODES = 3
const POOLED_CONNECTIONS = 6
const MAX_LOG_LINES = 30

/** A node that is a process of its own, with proxies of its own to PostgreSQL and S3. */
export class FaultNode {
  readonly url: string
  readonly data: string
  /** Undefined with a replicated PostgreSQL, whose hosts are named in one address. */
  readonly database: PostgresProxy | undefined
  readonly s3: S3Proxy
  /** The last errors it logged. */
  readonly log: string[] = []
  isAlive = false
  readonly #env: Record<string, string>
  readonly #diskMegabytes: number | undefined
  #server: ChildServer | undefined

  constructor(options: {
    port: number
    data: string
    database: PostgresProxy | undefined
    s3: S3Proxy
    env: Record<string, string>
    diskMegabytes: number | undefined
  }) {
    this.url = `http://127.0.0.1:${options.port}`
    this.data = options.data
    this.database = options.database
    this.s3 = options.s3
    this.#env = { ...options.env, CARREL_PORT: String(options.port) }
    this.#diskMegabytes = options.diskMegabytes
  }

  get pid(): number {
    const pid = this.#server?.process.pid
    if (pid === undefined) throw new Error('The node does not run.')
    return pid
  }

  async start(): Promise<void> {
    const disk = this.#diskMegabytes === undefined ? {} : { diskMegabytes: this.#diskMegabytes }
    this.#server = await spawnServer(this.data, this.#env, disk)
    this.isAlive = true
    const { stdout } = this.#server.process
    if (stdout === null) return
    createInterface({ input: stdout }).on('line', (line) => {
      this.log.push(line)
      if (this.log.length > MAX_LOG_LINES) this.log.shift()
    })
  }

  /** As a power failure of its machine. */
  async kill(): Promise<void> {
    this.isAlive = false
    if (this.#server === undefined) return
    signalTree(this.pid, 'SIGKILL')
    await this.#server.kill()
  }

  /** An orderly stop. Resolves to the exit code. */
  async stop(): Promise<number | null> {
    this.isAlive = false
    return (await this.#server?.stop()) ?? null
  }

  /** Its processes are not scheduled. Connections stay open. */
  freeze(): void {
    signalTree(this.pid, 'SIGSTOP')
  }

  thaw(): void {
    signalTree(this.pid, 'SIGCONT')
  }
}

/** Three real nodes on a real PostgreSQL, with blocks in a real S3 service. */
export class FaultCluster implements AsyncDisposable {
  readonly nodes: readonly FaultNode[]
  readonly postgres: RestorablePostgres | ReplicatedPostgres
  /** Where clients send requests: the nodes, or the proxy in front of them. */
  readonly entrances: readonly string[]
  readonly #settings: Record<string, string>
  readonly #opened: AsyncDisposableStack

  private constructor(
    nodes: readonly FaultNode[],
    postgres: RestorablePostgres | ReplicatedPostgres,
    entrances: readonly string[],
    settings: Record<string, string>,
    opened: AsyncDisposableStack,
  ) {
    this.nodes = nodes
    this.postgres = postgres
    this.entrances = entrances
    this.#settings = settings
    this.#opened = opened
  }

  static async start(s3: S3Endpoint, setup: Setup): Promise<FaultCluster> {
    await using opened = new AsyncDisposableStack()
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-faults-'))
    opened.defer(() => rm(folder, { recursive: true, force: true }))
    const postgres = opened.use(
      setup.replicated ? await ReplicatedPostgres.create() : await RestorablePostgres.create(),
    )
    const prefix = randomUUID()
    const shared = {
      CARREL_SECRET: 'the secret that all nodes have',
      AWS_ACCESS_KEY_ID: s3.accessKey,
      AWS_SECRET_ACCESS_KEY: s3.secretKey,
      CARREL_UNSAFE_STORAGE: 'allow',
    }
    const blocksAt = (endpoint: string) =>
      `s3://${s3.bucket}/${prefix}?endpoint=${endpoint}&region=${s3.region}`
    const shim = setup.clocks === undefined ? undefined : opened.use(await ClockShim.build())
    let entrance = postgres.url
    if (setup.pooled) {
      const pooler = await startPgBouncer(postgres.url, POOLED_CONNECTIONS)
      if (pooler === undefined) throw new Error('PgBouncer is not installed.')
      entrance = opened.use(pooler).url
    }
    const nodes: FaultNode[] = []
    const ports: number[] = []
    for (let index = 0; index < NODES; index += 1) {
      const database = setup.replicated ? undefined : opened.use(await PostgresProxy.start(entrance))
      const proxy = opened.use(await startS3Proxy(s3.endpoint))
      const data = await mkdtemp(path.join(folder, 'data-'))
      const port = await findFreePort()
      const env = {
        ...shared,
        CARREL_DATABASE: database?.url ?? postgres.url,
        CARREL_BLOCKS: blocksAt(proxy.endpoint),
        // Small, so that blocks are read from S3 again.
        CARREL_BLOCK_CACHE_MB: setup.diskMegabytes === undefined ? '4' : '1000',
        CARREL_DATABASE_CONNECTIONS: '10',
        CARREL_GC_GRACE_SECONDS: '60',
        ...(setup.behind && { CARREL_DRAIN_SECONDS: '4', CARREL_TRUSTED_PROXIES: '127.0.0.1' }),
        ...shim?.environment(setup.clocks?.[index] ?? 0),
      }
      const diskMegabytes = index === 0 ? setup.diskMegabytes : undefined
      const node = new FaultNode({ port, data, database, s3: proxy, env, diskMegabytes })
      opened.defer(() => node.kill())
      await node.start()
      nodes.push(node)
      ports.push(port)
    }
    const entrances =
      setup.behind === undefined
        ? nodes.map(({ url }) => url)
        : [opened.use(await startReverseProxy(setup.behind, ports)).url]
    const settings = { ...shared, CARREL_DATABASE: postgres.url, CARREL_BLOCKS: blocksAt(s3.endpoint) }
    return new FaultCluster(nodes, postgres, entrances, settings, opened.move())
  }

  get alive(): readonly FaultNode[] {
    return this.nodes.filter(({ isAlive }) => isAlive)
  }

  node(index: number): FaultNode {
    const node = this.nodes[index]
    if (node === undefined) throw new Error(`There is no node ${index}.`)
    return node
  }

  /** A proxy to all nodes, for clients that know one address only: the one in front of them, or another one. */
  async proxy(): Promise<AsyncDisposable & { readonly url: string }> {
    const [url] = this.entrances
    if (this.entrances.length === 1 && url !== undefined) return { url, async [Symbol.asyncDispose]() {} }
    return startReverseProxy(
      'nginx',
      this.nodes.map((node) => Number(new URL(node.url).port)),
    )
  }

  /** Starts the nodes that do not run. */
  async startAll(): Promise<void> {
    for (const node of this.nodes) if (!node.isAlive) await node.start()
  }

  /** Descriptions of orphaned work: unfinished tasks and archives without a live owner, and leases of dead nodes. */
  async stuck(): Promise<string[]> {
    const queries: Record<string, string> = {
      tasks: `select count(*) from copy_move_task where finished_at is null`,
      archives: `select count(*) from archive where state in ('queued', 'running')`,
      'dead nodes': `select count(*) from cluster_node where heartbeat_at < extract(epoch from clock_timestamp()) - 40`,
      leases: `select count(*) from cluster_lease l where not exists (select 1 from cluster_node n where n.id = l.node_id)`,
      'open transactions': `select count(*) from pg_stat_activity
        where state like 'idle in transaction%' and state_change < now() - interval '40 s'`,
      'unfollowed commits': `select count(*) from follower f join library l on l.key = f.library_key where f.seq < l.head_seq`,
    }
    const found: string[] = []
    await this.#query(async (client) => {
      for (const [name, sql] of Object.entries(queries)) {
        const { rows } = await client.query<{ count: string }>(sql)
        if (Number(rows[0]?.count) > 0) found.push(`${rows[0]?.count} ${name}`)
      }
    })
    return found
  }

  /** The findings of `carrel check --read-data` beside the nodes. */
  async check(): Promise<string[]> {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-faults-check-'))
    try {
      const args = ['check', '--json', '--read-data', '--data', data]
      const { code, stdout, stderr } = await carrel(args, { env: this.#settings })
      if (code === 0) return []
      return [`carrel check ended with ${code}: ${stdout.slice(0, 2000)}${stderr.slice(0, 2000)}`]
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  }

  async #query(work: (client: PostgresClient) => Promise<void>): Promise<void> {
    const { url } = this.postgres
    const connectionString = this.postgres instanceof ReplicatedPostgres ? this.postgres.standbyUrl : url
    const client = new PostgresClient({ connectionString })
    await client.connect()
    try {
      await work(client)
    } finally {
      await client.end()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync()
  }
}
