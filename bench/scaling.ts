import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import path from 'node:path'
import { type ChildServer, spawnServer } from '../test/support/child-server.ts'
import { Client } from '../test/support/client.ts'
import { processTree } from '../test/support/process-tree.ts'
import { ADMIN } from '../test/support/server.ts'
import { formBytes } from '../test/support/transfer.ts'
import { CpuShare } from './cpu-share.ts'
import { PostgresMeter } from './postgres-usage.ts'
import type { Row } from './row.ts'
import type { Context } from './scenario.ts'
import { UsageMeter } from './usage.ts'
import type { Workspace } from './workspace.ts'

/** Of a core, for each node, so that three nodes, PostgreSQL and the load fit on two cores. */
const SHARE = 0.2
const CLIENTS_PER_NODE = 6
/**
 * Requests to each node before the measurement. A node has to compile what it runs often before its CPU time says anything, and several nodes need as many
 * requests each as one alone. After 1,500 uploads the CPU time for one fell by less than a twentieth with the next 500.
 */
const WARM_UPS_PER_NODE = 2000
/** With a fifth of a core, five CPU seconds of each node. */
const MEASURED_MS = 25_000
const LIBRARIES = 100
const WRITERS = 50
const FILES = 100
const KIB_4 = 4096
/** How often an edit may be applied on average, because another node was faster. */
const MOST_APPLIED = 1.1
const JSON_TYPE = { Accept: 'application/json' }

export interface Scaling {
  /** What there is more of in each round, for example `node`. */
  readonly of: string
  readonly plural: string
  readonly counts: readonly number[]
  readonly start: (workspace: Workspace, count: number) => Promise<Cluster>
}

/** The same work on more and more nodes, each limited to the same share of a core. */
export async function measureScaling(
  context: Context,
  { of, plural, counts, start }: Scaling,
): Promise<Row[]> {
  const works: Record<
    string,
    { readonly prepare: Prepare; readonly clients: number; readonly share: number }
  > = {
    'listings and downloads with 20 % uploads': { prepare: prepareMixed, clients: 0, share: 0.9 },
    [`uploads of 4 KiB into ${LIBRARIES} libraries`]: { prepare: prepareUploads, clients: 0, share: 0.8 },
    [`uploads of 4 KiB by ${WRITERS} writers into one library`]: {
      prepare: prepareOneLibrary,
      clients: WRITERS,
      share: 0.8,
    },
  }
  const rows: Row[] = []
  const most = counts.at(-1) ?? 1
  for (const [what, { prepare, clients, share }] of Object.entries(works)) {
    const rates: number[] = []
    const cpusMs: number[] = []
    const isOneLibrary = clients === WRITERS
    for (const count of counts) {
      await using workspace = await context.workspace()
      await using cluster = await start(workspace, count)
      const loaded = clients || count * CLIENTS_PER_NODE
      // In libraries of its own: otherwise those of several nodes would have more files when the measurement begins.
      await cluster.warmUp(await prepare(cluster), loaded, count * context.size(WARM_UPS_PER_NODE, 10))
      const measured = await cluster.measure(context, await prepare(cluster), loaded)
      rates.push(measured.perSecond)
      const { perSecond, p50Ms, p99Ms, usage, requests, edits, database } = measured
      const cpuMs = (usage.cpuSeconds / requests) * 1000
      cpusMs.push(cpuMs)
      const countText = `${count} ${count === 1 ? of : plural}`
      rows.push({ what: `${what}, ${countText}`, value: perSecond, unit: 'per s', p50Ms, p99Ms, usage })
      rows.push({
        what: `${what}, ${countText}: CPU of the ${plural} for a request`,
        value: cpuMs,
        unit: 'ms',
      })
      if (database !== undefined) {
        const ofDatabase = `${what}, ${countText}: `
        rows.push(
          {
            what: `${ofDatabase}CPU of PostgreSQL for a request`,
            value: (database.cpuSeconds / requests) * 1000,
            unit: 'ms',
          },
          {
            what: `${ofDatabase}transactions of PostgreSQL for a request`,
            value: database.transactions / requests,
            unit: 'times',
          },
        )
      }
      if (!isOneLibrary) continue
      rows.push(
        {
          what: `${what}, ${countText}: an edit was applied`,
          value: edits.applied / Math.max(1, edits.committed),
          unit: 'times',
          target: { atMost: MOST_APPLIED },
        },
        {
          what: `${what}, ${countText}: edits in a transaction`,
          value: edits.committed / Math.max(1, edits.groups),
          unit: 'requests',
        },
      )
    }
    const one = rates[0] ?? 0
    // All writers of one library share its head, so more nodes do not make it faster.
    const linear = isOneLibrary ? one : most * one
    const limit = { value: linear, of: isOneLibrary ? `one ${of}` : `${most} times one ${of}` }
    const about = (await cgroupsWork()) ? { target: { atLeast: share * linear } } : {}
    rows.push({
      what: `${what}, ${most} ${plural}`,
      value: rates.at(-1) ?? 0,
      unit: 'per s',
      limit,
      ...about,
    })
    const oneMs = cpusMs[0] ?? 0
    if (!isOneLibrary) {
      const control = await measureControl(context, most, prepare, start)
      const apart = `${most} ${plural} that share nothing`
      rows.push({ what: `${what}, ${apart}`, value: control.perSecond, unit: 'per s', limit })
      rows.push({
        what: `${what}, ${apart}: CPU of the ${plural} for a request`,
        value: control.cpuMs,
        unit: 'ms',
        limit: { value: oneMs, of: `one ${of}` },
      })
      rows.push({
        what: `${what}, ${most} ${plural} beside as many that share nothing`,
        value: rates.at(-1) ?? 0,
        unit: 'per s',
        limit: { value: control.perSecond, of: apart },
        target: { atLeast: share * control.perSecond },
      })
    }
    rows.push({
      what: `${what}, ${most} ${plural}: CPU of the ${plural} for a request`,
      value: cpusMs.at(-1) ?? 0,
      unit: 'ms',
      limit: { value: oneMs, of: `one ${of}` },
      // As much CPU time for a request as with one means linear growth, where there are enough cores.
      ...(!isOneLibrary && { target: { atMost: oneMs / share } }),
    })
  }
  return rows
}

/**
 * The same work on servers that share nothing but the machine, at the same time. What they cost more than one alone is the cost of a busy machine, with caches
 * that others use, too. Only what nodes on one database cost beyond that is the cost of sharing it.
 */
async function measureControl(
  context: Context,
  count: number,
  prepare: Prepare,
  start: Scaling['start'],
): Promise<{ readonly perSecond: number; readonly cpuMs: number }> {
  await using opened = new AsyncDisposableStack()
  const clusters: Cluster[] = []
  for (let index = 0; index < count; index += 1) {
    const workspace = opened.use(await context.workspace())
    clusters.push(opened.use(await start(workspace, 1)))
  }
  const warmUps = context.size(WARM_UPS_PER_NODE, 10)
  await Promise.all(
    clusters.map(async (cluster) => cluster.warmUp(await prepare(cluster), CLIENTS_PER_NODE, warmUps)),
  )
  const prepared = await Promise.all(
    clusters.map(async (cluster) => ({ cluster, work: await prepare(cluster) })),
  )
  const measured = await Promise.all(
    prepared.map(({ cluster, work }) => cluster.measure(context, work, CLIENTS_PER_NODE)),
  )
  const sum = (of: (one: (typeof measured)[number]) => number) =>
    measured.reduce((total, one) => total + of(one), 0)
  const cpuSeconds = sum(({ usage }) => usage.cpuSeconds)
  return {
    perSecond: sum(({ perSecond }) => perSecond),
    cpuMs: (cpuSeconds / sum(({ requests }) => requests)) * 1000,
  }
}

/** Sends the nth request of all, as a client of the cluster, and throws unless it succeeds. */
type Work = (n: number, client: number) => Promise<void>
type Prepare = (cluster: Cluster) => Promise<Work>

let known: boolean | undefined
let groupsNamed = 0

/** The name of a control group that no other has. */
const nextGroup = () => `carrel-bench-${process.pid}-${groupsNamed++}`

async function cgroupsWork(): Promise<boolean> {
  if (known !== undefined) return known
  await using share = CpuShare.create(`carrel-bench-probe-${process.pid}`, SHARE)
  known = share !== undefined
  if (!known) process.stderr.write('CPU time cannot be limited here, compare the CPU of a request\n')
  return known
}

/** Several nodes on one database, or a server with several processes. */
export class Cluster implements AsyncDisposable {
  readonly clients: readonly Client[]
  readonly #servers: readonly ChildServer[]
  readonly #opened: AsyncDisposableStack
  readonly #limit: () => void
  /** Of PostgreSQL. */
  readonly #databaseUrl: string | undefined
  /** By client: each keeps its connection, as real clients do. So it stays at one process, too. */
  readonly #agents = new Map<number, Agent>()

  private constructor(
    clients: readonly Client[],
    servers: readonly ChildServer[],
    opened: AsyncDisposableStack,
    limit: () => void,
    databaseUrl: string | undefined,
  ) {
    this.#databaseUrl = databaseUrl
    this.clients = clients
    this.#servers = servers
    this.#opened = opened
    this.#limit = limit
  }

  /** Nodes on one database, whose blocks are in one folder. */
  static async startNodes(workspace: Workspace, count: number): Promise<Cluster> {
    await using opened = new AsyncDisposableStack()
    const blocks = path.join(workspace.folder, 'blocks')
    await mkdir(blocks)
    await writeFile(path.join(blocks, 'store-id'), 'the-store-of-all-nodes')
    const servers: ChildServer[] = []
    const groups: (CpuShare | undefined)[] = []
    for (let index = 0; index < count; index += 1) {
      const data = await mkdtemp(path.join(workspace.folder, 'node-'))
      await symlink(blocks, path.join(data, 'blocks'))
      const env = { ...workspace.serverEnv, CARREL_DATA: data, CARREL_SECRET: 'the secret of all nodes' }
      const group = CpuShare.create(nextGroup(), SHARE)
      if (group !== undefined) opened.use(group)
      groups.push(group)
      servers.push(await spawn(data, env, opened))
    }
    const limit = () => {
      for (const [index, server] of servers.entries()) {
        for (const pid of processTree(server.process.pid ?? 0)) groups[index]?.add(pid)
      }
    }
    return await Cluster.#signIn(servers, opened.move(), limit, workspace.env['CARREL_DATABASE'])
  }

  /** One server with so many processes. Its supervisor is not limited, because there is one however many processes there are. */
  static async startProcesses(workspace: Workspace, count: number): Promise<Cluster> {
    await using opened = new AsyncDisposableStack()
    const data = await mkdtemp(path.join(workspace.folder, 'server-'))
    const env = { ...workspace.serverEnv, CARREL_DATA: data, CARREL_PROCESSES: String(count) }
    const groups = Array.from({ length: count }, () => CpuShare.create(nextGroup(), SHARE))
    for (const group of groups) if (group !== undefined) opened.use(group)
    const server = await spawn(data, env, opened)
    return await Cluster.#signIn([server], opened.move(), () => {
      const tree = processTree(server.process.pid ?? 0)
      const limited = count === 1 ? tree : tree.slice(1)
      for (const [index, pid] of limited.entries()) groups[index % count]?.add(pid)
    })
  }

  static async #signIn(
    servers: readonly ChildServer[],
    opened: AsyncDisposableStack,
    limit: () => void,
    databaseUrl?: string,
  ): Promise<Cluster> {
    const [first] = servers
    const { token, email } = await Client.signIn(first?.url ?? '', ADMIN.email, ADMIN.password)
    const clients = servers.map(({ url }) => new Client(url, token, email))
    return new Cluster(clients, servers, opened, limit, databaseUrl)
  }

  node(index: number): Client {
    const client = this.clients[index % this.clients.length]
    if (client === undefined) throw new Error('There are no nodes.')
    return client
  }

  /** Runs work a number of times with so many clients, each of which stays at one node. */
  async warmUp(work: Work, clients: number, times: number): Promise<void> {
    let sent = 0
    const client = async (index: number) => {
      // Each client sends as many as the others, so that each node receives as many.
      for (let left = Math.ceil(times / clients); left > 0; left -= 1) await work(sent++, index)
    }
    await Promise.all(Array.from({ length: clients }, (_, index) => client(index)))
  }

  /** As `warmUp`, for a while. Limits the CPU time of the nodes, and reads what they need once before it measures. */
  async measure(context: Context, work: Work, clients: number) {
    const { warmUp } = context
    let sent = 0
    const timesMs: number[] = []
    const run = async (ms: number, isMeasured: boolean) => {
      const end = performance.now() + ms
      const client = async (index: number) => {
        while (performance.now() < end) {
          const began = performance.now()
          await work(sent++, index)
          if (isMeasured) timesMs.push(performance.now() - began)
        }
      }
      await Promise.all(Array.from({ length: clients }, (_, index) => client(index)))
    }
    this.#limit()
    await run('ms' in warmUp ? warmUp.ms : 1000, false)
    const meters = await Promise.all(this.#servers.map(({ process: { pid } }) => UsageMeter.start(pid ?? 0)))
    const url = this.#databaseUrl
    await using database = url === undefined ? undefined : await PostgresMeter.start(url)
    const editsBefore = await this.#edits()
    const began = performance.now()
    await run(context.size(MEASURED_MS, 200), true)
    const seconds = (performance.now() - began) / 1000
    const editsAfter = await this.#edits()
    const usages = await Promise.all(meters.map((meter) => meter.read()))
    const usage = {
      cpuSeconds: usages.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
      peakBytes: usages.reduce((sum, { peakBytes }) => sum + peakBytes, 0),
    }
    const sorted = timesMs.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
    const requests = sorted.length
    const edits = {
      applied: editsAfter.applied - editsBefore.applied,
      committed: editsAfter.committed - editsBefore.committed,
      groups: editsAfter.groups - editsBefore.groups,
    }
    const perSecond = requests / seconds
    const ofDatabase = await database?.read()
    return { requests, perSecond, p50Ms: at(0.5), p99Ms: at(0.99), usage, edits, database: ofDatabase }
  }

  /** The counters of edits, of all nodes. */
  async #edits() {
    const texts = await Promise.all(this.clients.map((_, index) => this.send(index, '/metrics')))
    const sumOf = (name: string) =>
      texts.reduce((sum, text) => {
        const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(text.toString())
        return sum + Number(found?.[1] ?? 0)
      }, 0)
    return {
      applied: sumOf('carrel_edits_applied_total'),
      committed: sumOf('carrel_edits_committed_total'),
      groups: sumOf('carrel_edit_groups_total'),
    }
  }

  /** One request over the connection of a client. Throws for any status but 200. */
  send(
    client: number,
    target: string,
    { body, type }: { readonly body?: Uint8Array; readonly type?: string } = {},
  ): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const { url, token } = this.node(client)
    const agent = this.#agents.get(client) ?? new Agent({ keepAlive: true })
    this.#agents.set(client, agent)
    const headers = {
      ...JSON_TYPE,
      Authorization: `Token ${token}`,
      ...(type !== undefined && { 'Content-Type': type }),
      ...(body !== undefined && { 'Content-Length': String(body.length) }),
    }
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request(url + target, { agent, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => {
        const whole = Buffer.concat(chunks)
        if (response.statusCode === 200) resolve(whole)
        else
          reject(new Error(`${method} ${target}: ${response.statusCode} ${whole.toString('utf8', 0, 200)}`))
      })
    })
    sent.once('error', reject)
    sent.end(body)
    return promise
  }

  upload(client: number, link: string, name: string): Promise<Buffer> {
    const parts = [['parent_dir', '/'] as const, { filename: name, bytes: randomBytes(KIB_4) }]
    const body = formBytes(parts, BOUNDARY)
    return this.send(client, link, { body, type: `multipart/form-data; boundary=${BOUNDARY}` })
  }

  async link(library: string, of = 'upload-link', query: Record<string, string> = {}): Promise<string> {
    const reply = await this.node(0).get(`/api2/repos/${library}/${of}/`, { p: '/', ...query })
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
    return new URL(reply.body).pathname
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents.values()) agent.destroy()
    await this.#opened.disposeAsync()
  }
}

const BOUNDARY = 'carrel-bench-scaling'

/** Starts a server that ends with the stack: by a signal that it handles if it has to write a CPU profile. */
async function spawn(
  data: string,
  env: Record<string, string>,
  opened: AsyncDisposableStack,
): Promise<ChildServer> {
  const server = opened.use(await spawnServer(data, env))
  if ('NODE_OPTIONS' in env) opened.defer(async () => void (await server.stop()))
  return server
}

async function prepareMixed(cluster: Cluster): Promise<Work> {
  const library = await cluster.node(0).createLibrary('read')
  const link = await cluster.link(library)
  for (let n = 0; n < FILES; n += 1) await cluster.upload(0, link, `file ${n}`)
  const downloads: string[] = []
  for (let n = 0; n < FILES; n += 10) {
    downloads.push(await cluster.link(library, 'file', { p: `/file ${n}`, reuse: '1' }))
  }
  const writes = await createLinks(cluster)
  return async (n, client) => {
    const kind = n % 5
    if (kind === 0) await cluster.upload(client, writes[(n / 5) % LIBRARIES] ?? '', `file ${n}`)
    else if (kind < 3) await cluster.send(client, `/api2/repos/${library}/dir/?p=/`)
    else await cluster.send(client, downloads[n % downloads.length] ?? '')
  }
}

async function prepareUploads(cluster: Cluster): Promise<Work> {
  const links = await createLinks(cluster)
  return async (n, client) => void (await cluster.upload(client, links[n % LIBRARIES] ?? '', `file ${n}`))
}

async function prepareOneLibrary(cluster: Cluster): Promise<Work> {
  const link = await cluster.link(await cluster.node(0).createLibrary('one'))
  return async (n, client) => void (await cluster.upload(client, link, `file ${n}`))
}

/** Upload links of 100 libraries. */
async function createLinks(cluster: Cluster): Promise<string[]> {
  const links: string[] = []
  for (let n = 0; n < LIBRARIES; n += 1) {
    links.push(await cluster.link(await cluster.node(0).createLibrary(`library ${n}`)))
  }
  return links
}
