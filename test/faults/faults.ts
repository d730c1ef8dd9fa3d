import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ReplicatedPostgres } from '../support/replicated-postgres.ts'
import { RestorablePostgres } from '../support/restorable-postgres.ts'
import type { S3Fault } from '../support/s3-proxy.ts'
import type { FaultCluster, FaultNode, Setup } from './cluster.ts'

/** Something that goes wrong under load, and what clients may see of it. */
export interface Fault {
  readonly name: string
  readonly setup: Setup
  /** How long it lasts. Undefined if `inject` returns when it is over. */
  readonly seconds?: number
  /** Part of the bounded selection, where it lasts for at most two seconds. */
  readonly selected?: true
  readonly inject: (cluster: FaultCluster, random: () => number) => Promise<void> | void
  /** Ends it. Nodes are not restarted. */
  readonly heal: (cluster: FaultCluster) => Promise<void> | void
  /** No operation may fail. */
  readonly expectsNoErrors?: true
}

const PLAIN: Setup = {}
const DISK_MEGABYTES = 48
const FILLER = 'filler'

const healS3 = (cluster: FaultCluster) => {
  for (const { s3 } of cluster.nodes) s3.recover()
}

/** All nodes see the fault in a share of their requests to S3, or in all of them. */
function s3Fault(
  name: string,
  fault: S3Fault,
  { pattern = /./, seconds = 20, ...rest }: Partial<Fault> & { pattern?: RegExp } = {},
): Fault {
  return {
    name: `S3 ${name}`,
    setup: PLAIN,
    seconds,
    inject: ({ nodes }) => {
      for (const { s3 } of nodes) s3.failAll(pattern, fault)
    },
    heal: healS3,
    ...rest,
  }
}

function databaseFault(name: string, cut: 'refuse' | 'silence'): Fault {
  return {
    name: `a node is cut off from PostgreSQL (${name})`,
    setup: PLAIN,
    seconds: 45,
    inject: ({ nodes: [first] }) => first?.database?.[cut](),
    heal: ({ nodes: [first] }) => first?.database?.recover(),
  }
}

/** Something happens to connections at random messages, commits included. */
function messageFault(name: string, what: 'cut' | 'silence'): Fault {
  return {
    name: `connections to PostgreSQL ${name} at messages of all kinds, commits included`,
    setup: PLAIN,
    seconds: 20,
    inject: ({ nodes }, random) => {
      for (const { database } of nodes) {
        if (database === undefined) continue
        database.judge = ({ type, body }) => {
          if (type === 'startup' || 'Xp'.includes(type)) return 'forward'
          const isCommit = type === 'C' && body.includes('COMMIT')
          if (random() > (isCommit ? 0.02 : 0.0005)) return 'forward'
          return random() < 0.5 ? `${what}-before` : `${what}-after`
        }
      }
    },
    heal: ({ nodes }) => {
      for (const { database } of nodes) if (database !== undefined) database.judge = () => 'forward'
    },
  }
}

async function rollingRestart({ nodes }: FaultCluster): Promise<void> {
  for (const node of nodes) {
    assert.equal(await node.stop(), 0)
    await node.start()
    await untilReady(node)
  }
}

/** Until a proxy that asks once a second has seen it, and would not lose it at once on a busy machine. */
async function untilReady({ url }: FaultNode): Promise<void> {
  for (let seen = 0; seen < 3; ) {
    const reply = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)
    await reply?.arrayBuffer().catch(() => undefined)
    seen = reply?.ok ? seen + 1 : 0
    await delay(1000)
  }
}

/** The name of a block, in the path of a request. Odd ones are half of all. */
const HALF_OF_THE_BLOCKS = /[02468ace][0-9a-f]{14}$/

/** Everything that is injected, in this order. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'nothing, for comparison',
    setup: PLAIN,
    seconds: 10,
    inject: () => {},
    heal: () => {},
    expectsNoErrors: true,
  },
  {
    name: 'a node is killed',
    setup: PLAIN,
    seconds: 45,
    selected: true,
    inject: (cluster) => cluster.node(0).kill(),
    heal: () => {},
  },
  {
    name: 'a node is stopped for 60 s and continued',
    setup: PLAIN,
    seconds: 60,
    inject: (cluster) => cluster.node(1).freeze(),
    heal: (cluster) => cluster.node(1).thaw(),
  },
  {
    name: 'PostgreSQL is restarted',
    setup: PLAIN,
    inject: async ({ postgres }) => {
      assert.ok(postgres instanceof RestorablePostgres)
      await postgres.stop()
      await delay(1000)
      await postgres.start()
    },
    heal: () => {},
    expectsNoErrors: true,
  },
  {
    name: 'PostgreSQL is frozen for 60 s',
    setup: PLAIN,
    seconds: 60,
    inject: ({ postgres }) => {
      assert.ok(postgres instanceof RestorablePostgres)
      postgres.freeze()
    },
    heal: ({ postgres }) => {
      assert.ok(postgres instanceof RestorablePostgres)
      postgres.thaw()
    },
  },
  { ...messageFault('are cut', 'cut'), selected: true },
  { ...messageFault('go silent', 'silence'), seconds: 60 },
  {
    name: 'PostgreSQL is frozen for 11 minutes, longer than every limit',
    setup: PLAIN,
    seconds: 660,
    inject: ({ postgres }) => {
      assert.ok(postgres instanceof RestorablePostgres)
      postgres.freeze()
    },
    heal: ({ postgres }) => {
      assert.ok(postgres instanceof RestorablePostgres)
      postgres.thaw()
    },
  },
  {
    name: 'a node is suspended for ten minutes and continued',
    setup: PLAIN,
    seconds: 600,
    inject: (cluster) => cluster.node(1).freeze(),
    heal: (cluster) => cluster.node(1).thaw(),
  },
  databaseFault('connections are refused', 'refuse'),
  databaseFault('packets are lost', 'silence'),
  {
    name: 'a node is cut off from S3 (packets are lost)',
    setup: PLAIN,
    seconds: 45,
    inject: (cluster) => cluster.node(0).s3.failAll(/./, { kind: 'silent' }),
    heal: healS3,
  },
  {
    name: 'a node is cut off from everything but its clients',
    setup: PLAIN,
    seconds: 45,
    inject: (cluster) => {
      cluster.node(2).database?.silence()
      cluster.node(2).s3.failAll(/./, { kind: 'silent' })
    },
    heal: (cluster) => {
      cluster.node(2).database?.recover()
      healS3(cluster)
    },
  },
  s3Fault('answers 500', { kind: 'status', status: 500 }),
  s3Fault('answers 503', { kind: 'status', status: 503 }),
  s3Fault('answers 2 s late', { kind: 'slow', ms: 2000 }),
  s3Fault('sends half of each object', { kind: 'cut-response' }),
  s3Fault('does not answer', { kind: 'silent' }, { seconds: 45 }),
  s3Fault('loses the response after success', { kind: 'lost-response' }, { pattern: /^PUT/ }),
  s3Fault(
    'loses the response for half of the blocks',
    { kind: 'lost-response' },
    {
      pattern: HALF_OF_THE_BLOCKS,
      selected: true,
    },
  ),
  s3Fault('sends corrupt bytes', { kind: 'changing-bytes' }, { pattern: /^GET/ }),
  s3Fault('receives corrupt bytes', { kind: 'wrong-request' }, { pattern: /^PUT/ }),
  {
    name: 'the disk with the cache of a node is full',
    setup: { diskMegabytes: DISK_MEGABYTES },
    seconds: 20,
    inject: (cluster) => fillDisk(cluster),
    heal: (cluster) => rm(fillerOf(cluster)),
  },
  {
    name: 'the clocks of the nodes are 30 s apart; a node is killed',
    setup: { clocks: [-30, 0, 30] },
    seconds: 45,
    inject: (cluster) => cluster.node(2).kill(),
    heal: () => {},
  },
  {
    name: 'PgBouncer in transaction mode; PostgreSQL is restarted',
    setup: { pooled: true },
    inject: async ({ postgres }) => {
      assert.ok(postgres instanceof RestorablePostgres)
      await delay(5000)
      await postgres.stop()
      await postgres.start()
      await delay(5000)
    },
    heal: () => {},
  },
  {
    name: 'the primary of PostgreSQL is killed, the synchronous standby promoted',
    setup: { replicated: true },
    inject: async ({ postgres }) => {
      assert.ok(postgres instanceof ReplicatedPostgres)
      await postgres.killPrimary()
      await delay(2000)
      await postgres.promote()
    },
    heal: () => {},
  },
  {
    name: 'the primary of PostgreSQL is frozen, the synchronous standby promoted',
    setup: { replicated: true },
    inject: async ({ postgres }) => {
      assert.ok(postgres instanceof ReplicatedPostgres)
      postgres.freezePrimary()
      await delay(2000)
      await postgres.promote()
      await delay(30_000)
    },
    heal: async ({ postgres }) => {
      assert.ok(postgres instanceof ReplicatedPostgres)
      await postgres.killPrimary()
    },
  },
  {
    name: 'all nodes are restarted one by one behind nginx',
    setup: { behind: 'nginx' },
    inject: rollingRestart,
    heal: () => {},
    expectsNoErrors: true,
  },
  {
    name: 'all nodes are restarted one by one behind HAProxy',
    setup: { behind: 'haproxy' },
    inject: rollingRestart,
    heal: () => {},
    expectsNoErrors: true,
  },
]

/** The data folder of the first node is a file system that only its own mount namespace has. */
function fillerOf(cluster: FaultCluster): string {
  const { pid, data } = cluster.node(0)
  return path.join(`/proc/${pid}/root`, data, FILLER)
}

async function fillDisk(cluster: FaultCluster): Promise<void> {
  let isFull = false
  for (let megabytes = DISK_MEGABYTES; megabytes >= 1; megabytes = Math.floor(megabytes / 2)) {
    try {
      await writeFile(fillerOf(cluster), Buffer.alloc(megabytes * 2 ** 20), { flag: 'a' })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      isFull = true
    }
  }
  assert.ok(isFull, 'the disk did not become full')
}
