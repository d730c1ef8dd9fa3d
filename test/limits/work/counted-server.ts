import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { spawnServer } from '../../support/child-server.ts'
import { FaultInjector, type InjectedFault } from '../../support/fault-injection.ts'
import type { PostgresProxy, ProtocolMessage } from '../../support/postgres-proxy.ts'
import type { Counts } from './counters.ts'

/** The work that a call caused. The columns of the table, in its order. */
export interface Work {
  readonly statements: number
  readonly transactions: number
  /** Of PostgreSQL. */
  readonly roundTrips: number
  /** Of SQLite. */
  readonly versionReads: number
  /** Opened, read, written, renamed, removed below the data folder; by all threads. */
  readonly fileCalls: number
  readonly syncs: number
  readonly promises: number
  readonly bytesHashed: number
}

const COUNTERS = path.join(import.meta.dirname, 'counters.ts')
const OPERATIONS = [
  'open',
  'create',
  'write',
  'rename',
  'unlink',
  'truncate',
  'allocate',
  'mkdir',
  'read',
  'link',
] as const

/** A server as users start it, whose work is counted. */
export class CountedServer implements AsyncDisposable {
  readonly url: string
  readonly #stack: AsyncDisposableStack
  readonly #socket: Socket
  readonly #replies: AsyncIterator<string>
  readonly #files: InjectedFault
  readonly #syncs: InjectedFault
  readonly #wire: WireCounts | undefined

  private constructor(
    url: string,
    parts: {
      stack: AsyncDisposableStack
      socket: Socket
      files: InjectedFault
      syncs: InjectedFault
      wire: WireCounts | undefined
    },
  ) {
    this.url = url
    this.#stack = parts.stack
    this.#socket = parts.socket
    this.#files = parts.files
    this.#syncs = parts.syncs
    this.#wire = parts.wire
    this.#replies = createInterface({ input: parts.socket })[Symbol.asyncIterator]()
  }

  /** On SQLite unless there is a proxy to PostgreSQL. Check `cannotBuildShim` before. */
  static async start(data: string, proxy?: PostgresProxy): Promise<CountedServer> {
    await using stack = new AsyncDisposableStack()
    const injector = stack.use(await FaultInjector.create(data))
    // Rules that hit no call, and count them.
    const files = injector.inject({ operations: OPERATIONS, path: '*', effect: 'EIO', count: 0 })
    const syncs = injector.inject({
      operations: ['sync', 'syncFolder'],
      path: '*',
      effect: 'EIO',
      count: 0,
    })
    const address = path.join(injector.folder, 'counts')
    const wire = proxy && new WireCounts(proxy)
    const server = stack.use(
      await spawnServer(data, {
        ...injector.env,
        NODE_OPTIONS: `--import=${COUNTERS}`,
        CARREL_TEST_WORK_SOCKET: address,
        // The checks of the tests themselves would be counted.
        CARREL_TEST_FREEZE_ROWS: '',
        CARREL_TEST_POISON: '',
        ...(proxy && { CARREL_DATABASE: proxy.url }),
      }),
    )
    const socket = connect(address)
    await once(socket, 'connect')
    stack.defer(() => void socket.destroy())
    return new CountedServer(server.url, { stack: stack.move(), socket, files, syncs, wire })
  }

  /** The work of `call`, and of the tasks that followed it if `settles`. */
  async workOf(call: () => Promise<void>, { settles = false } = {}): Promise<Work> {
    const before = await this.#read()
    await call()
    if (settles) await this.quiet()
    const after = await this.#read()
    const entries = Object.entries(after.work).map(([name, count]) => [
      name,
      count - before.work[name as keyof Work],
    ])
    return Object.fromEntries(entries) as Work
  }

  /** What `call` allocated. Undefined if there was a garbage collection. */
  async allocatedBy(call: () => Promise<void>): Promise<number | undefined> {
    await this.#ask('collect')
    const before = await this.#ask('read')
    await call()
    const after = await this.#ask('read')
    // A collection is reported a turn later.
    const { collections } = await this.#ask('read')
    return collections === before.collections ? after.heapBytes - before.heapBytes : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }

  async #read(): Promise<{ work: Work }> {
    const { statements, transactions, versionReads, promises, bytesHashed } = await this.#ask('read')
    return {
      work: {
        statements: this.#wire?.statements ?? statements,
        transactions: this.#wire?.transactions ?? transactions,
        roundTrips: this.#wire?.roundTrips ?? 0,
        versionReads,
        fileCalls: this.#files.seen,
        syncs: this.#syncs.seen,
        promises,
        bytesHashed,
      },
    }
  }

  async #ask(question: 'read' | 'collect'): Promise<Counts> {
    this.#socket.write(`${question}\n`)
    const { value } = await this.#replies.next()
    return JSON.parse(value as string) as Counts
  }

  /** Resolves when the server has done nothing for some turns: the tasks that follow a commit are done. */
  async quiet(): Promise<void> {
    let last = ''
    for (let same = 0; same < 4; ) {
      const { work } = await this.#read()
      const { statements, fileCalls, syncs } = work
      const now = JSON.stringify([statements, fileCalls, syncs])
      same = now === last ? same + 1 : 0
      last = now
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
  }
}

/** Statements and transactions as PostgreSQL sees them. */
class WireCounts {
  statements = 0
  transactions = 0
  readonly #proxy: PostgresProxy

  constructor(proxy: PostgresProxy) {
    this.#proxy = proxy
    proxy.judge = (message) => {
      this.#note(message)
      return 'forward'
    }
  }

  get roundTrips(): number {
    return this.#proxy.roundTrips
  }

  #note({ from, type, body }: ProtocolMessage): void {
    if (from === 'client' && 'EQ'.includes(type)) this.statements += 1
    // The tag of a command that was completed.
    if (from === 'server' && type === 'C' && body.toString('latin1').startsWith('COMMIT'))
      this.transactions += 1
  }
}
