import type { Database, Transaction } from '../database/index.ts'
import {
  type CallCounts,
  deleteDeadNodes,
  deleteOtherNodes,
  endHeartbeat,
  listLeases,
  listNodes,
  type NodeRow,
  putCalls,
  putHeartbeat,
  putLease,
  sumCallsOfOthers,
} from './node-store.ts'
import { NODE_EXPIRY_SECONDS } from './relations.ts'

const HEARTBEAT_MS = 5_000
/** Since the last own heartbeat. After a longer pause a node does not judge others until its next heartbeat. */
const MAX_PAUSE_MS = 15_000
/** A smaller difference to the database clock is the time of the round trip. */
const MIN_CORRECTION_SECONDS = 0.25

interface ClusterNodeOptions {
  readonly db: Database
  /** Unique for each start of a server. */
  readonly id: string
  readonly version: string
  /** The newest step of the schema that its program knows. */
  readonly schemaVersion: number
  /** Where the node listens, as shown to operators. */
  readonly address: string
  /** The address of its block store. */
  readonly blocks: string
  /** Called with the errors of heartbeats, which are repeated. */
  readonly onError: (error: unknown) => void
}

/** A node as others see it. */
export interface NodeState extends NodeRow {
  readonly isAlive: boolean
  /** The names of its leases. */
  readonly leases: readonly string[]
}

/**
 * This process as a node of all servers on one database. Its row has a heartbeat by the database clock, and every lease names a node: it is void
 * 30 s after the last heartbeat. So the work of a dead node is taken over without a restart, and that of a live one never is.
 */
export class ClusterNode implements AsyncDisposable {
  readonly id: string
  readonly #options: ClusterNodeOptions
  #address: string
  readonly #listeners: ((deadNodes: number) => void)[] = []
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> = Promise.resolve()
  #isEnding = false
  #renewedAtMs = Number.NEGATIVE_INFINITY
  /** The database clock minus that of this process, in seconds. */
  #offset = 0
  /** Time the last heartbeat took in the database. */
  roundTripSeconds = 0

  constructor(options: ClusterNodeOptions) {
    this.id = options.id
    this.#options = options
    this.#address = options.address
  }

  /** Joins the cluster. The node `dead` is known to be dead, whatever its heartbeat. `alone` says that no other node can be alive. */
  async start({ dead, alone = false }: { dead?: string | undefined; alone?: boolean }): Promise<void> {
    const { dialect } = this.#options.db
    await this.#renew((tx) => (alone ? deleteOtherNodes(tx, this.id) : deleteDeadNodes(tx, dialect, dead)))
    this.#timer = setInterval(() => {
      this.#beating = this.#beating.then(() => this.beat()).catch(this.#options.onError)
    }, HEARTBEAT_MS).unref()
  }

  /** Unix seconds of the database clock, so that nodes whose clocks differ behave as one. */
  now(): number {
    return Math.floor(Date.now() / 1000 + this.#offset)
  }

  /** The database clock minus that of this process, in seconds. */
  get clockOffset(): number {
    return this.#offset
  }

  /** Called after each heartbeat, with the number of nodes that this one found dead. */
  onBeat(listener: (deadNodes: number) => void): void {
    this.#listeners.push(listener)
  }

  setAddress(address: string): void {
    this.#address = address
  }

  /** Renews the heartbeat now and looks for dead nodes. */
  async beat(): Promise<void> {
    if (this.#isEnding) return
    // After a pause of this process or of the database, the heartbeats of others may be as old as its own.
    const isLate = performance.now() - this.#renewedAtMs > MAX_PAUSE_MS
    const { dialect } = this.#options.db
    const dead = await this.#renew((tx) => (isLate ? Promise.resolve(0) : deleteDeadNodes(tx, dialect)))
    if (isLate) return
    for (const listener of this.#listeners) listener(dead)
  }

  /**
   * Acquires a named lease, held until the node stops. False if another live node holds it. For periodic jobs of the cluster that are
   * idempotent: after a pause of this process, two nodes may run the same job at once.
   */
  async hold(name: string): Promise<boolean> {
    if (this.#isEnding) return false
    const { db } = this.#options
    return db.write((tx) => putLease(tx, db.dialect, { name, nodeId: this.id }), { durable: false })
  }

  /** Tells the other nodes how many calls clients made here in the last minute. Resolves to the sums of all others. */
  exchangeCalls(calls: CallCounts): Promise<CallCounts> {
    const { db } = this.#options
    return db.write(
      async (tx) => {
        await putCalls(tx, db.dialect, { id: this.id, calls })
        return sumCallsOfOthers(tx, db.dialect, this.id)
      },
      { durable: false },
    )
  }

  /** All registered nodes, including expired ones until another node takes over their tasks. */
  async list(): Promise<NodeState[]> {
    const { db } = this.#options
    const [nodes, leases] = await Promise.all([listNodes(db), listLeases(db)])
    return nodes.map((node) => ({
      ...node,
      isAlive: node.heartbeatAt > this.now() - NODE_EXPIRY_SECONDS,
      leases: leases.filter(({ nodeId }) => nodeId === node.id).map(({ name }) => name),
    }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true
    clearInterval(this.#timer)
    await this.#beating
    const { db, onError } = this.#options
    if (this.#timer === undefined) return
    await db.write((tx) => endHeartbeat(tx, this.id), { durable: false }).catch(onError)
  }

  /** Renews the heartbeat, deletes dead nodes in the same transaction, and compares the clocks. Resolves to the number of dead nodes. */
  async #renew(deleteNodes: (tx: Transaction) => Promise<number>): Promise<number> {
    const { db, version, blocks, schemaVersion } = this.#options
    const row = { id: this.id, version, address: this.#address, blocks, schemaVersion }
    let began = Date.now()
    let ended = began
    const { time, dead } = await db.write(
      async (tx) => {
        began = Date.now()
        const found = await putHeartbeat(tx, db.dialect, row)
        ended = Date.now()
        return { time: found, dead: await deleteNodes(tx) }
      },
      { durable: false },
    )
    this.#renewedAtMs = performance.now()
    this.roundTripSeconds = (ended - began) / 1000
    // SQLite has the clock of this process.
    const offset = db.dialect === 'sqlite' ? 0 : time - (began + ended) / 2000
    if (Math.abs(offset - this.#offset) > MIN_CORRECTION_SECONDS) this.#offset = offset
    return dead
  }
}
