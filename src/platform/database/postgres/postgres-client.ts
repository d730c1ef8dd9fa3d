import type { Socket } from 'node:net'
import { Client, type ClientConfig, Query, type QueryResult } from 'pg'
import type { Row } from '../database.ts'
import { DatabaseError } from '../errors.ts'
import { type BatchOutcome, ColumnArray, type Outcome, type Step } from './batch.ts'
import { readBinaryRows } from './binary-rows.ts'
import { CLOSE_MS, CONNECT_MS, silence } from './deadlines.ts'
import { Hosts } from './hosts.ts'
import { Statement } from './statements.ts'
import { hasBinaryBytes } from './values.ts'

/** The protocol counts parameters in 16 bits. */
const MAX_PARAMETERS = 65_535

const describeServer = new Statement(
  `select pg_postmaster_start_time()::text as server, pg_backend_pid() as pid,
     pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as is_standby`,
)

// Also those that wait for the rest of a message, or for the network. A state that is not tracked, or not shown to this role, tells nothing.
const listIdle = new Statement(
  `select asked.pid from unnest($1::int[]) as asked (pid) left join pg_stat_activity backend using (pid)
   where backend.pid is null or backend.state like 'idle%' or backend.wait_event_type = 'Client'`,
)

export type ResultFormat = 'binary' | 'text'

/** Options of the driver, and the servers to connect to. */
export interface PostgresClientConfig extends ClientConfig {
  readonly hosts: Hosts
  /** Format of results that contain bytes. As text, bytes are hexadecimal, and thus twice as long. */
  readonly results?: ResultFormat
}

/** The URL of the server that accepts writes. */
export async function findWritable(url: string): Promise<string> {
  const hosts = new Hosts(url)
  if (hosts.urls.length === 1) return hosts.current
  for (let attempt = 1; ; attempt++) {
    const found = hosts.current
    const client = new PostgresClient({ hosts })
    try {
      await client.connect()
      await client.describeServer()
      return found
    } catch (error) {
      if (attempt >= hosts.urls.length) throw error
    } finally {
      client.drop()
    }
  }
}

/** A connection that runs batches. The driver pipelines: it does not wait for one statement before it sends the next. */
export class PostgresClient extends Client {
  /** Whether the server did not answer in time. The connection is closed then. */
  isOverdue = false
  /**
   * Whether a pooler is in between, such as PgBouncer: the server process is not the one that answered at the start of the connection. Each transaction may run in
   * another session then, so statements are not prepared.
   */
  isPooled = false
  /** Counts failures of the pool. A connection that was opened before the last one may be dead, too. */
  generation = 0
  /** This run of the server, once it is known. */
  server: string | undefined
  /** Called again and again while nothing arrives for an open batch. */
  onSilent: (() => void) | undefined

  /** The URL of the server. */
  readonly #url: string
  readonly #hosts: Hosts
  readonly #results: ResultFormat

  constructor(config: PostgresClientConfig) {
    const url = config.hosts.current
    // The limit of the pool is another one: it includes the time spent waiting for a free connection.
    super({ ...config, connectionString: url, connectionTimeoutMillis: CONNECT_MS, pipeline: true })
    this.#url = url
    this.#hosts = config.hosts
    // A connection can be lost at any moment, also before whoever opened it goes on. The statement that fails says so; without a listener the process would end.
    this.on('error', () => {})
    this.#results = config.results ?? 'binary'
    if (this.#results === 'binary') readBinaryRows(this)
  }

  /** A server that cannot be reached is not the next one to be tried, if there are others. */
  override connect(): Promise<Client>
  override connect(callback: ((error: Error) => void) | ((error: null, client: Client) => void)): void
  override connect(callback?: (error: never, client: never) => void): Promise<Client> | undefined {
    const connecting = super.connect().catch((error: unknown) => {
      this.#hosts.noteFailure(this.#url)
      throw error
    })
    if (callback === undefined) return connecting
    const report = callback as (error: unknown, client?: Client) => void
    connecting.then(
      (client) => report(null, client),
      (error: unknown) => report(error),
    )
    return undefined
  }

  /** Runs the steps in order, in one round trip. Never rejects, even if the connection is lost or the server does not answer in time. */
  async runBatch(steps: readonly Step[], deadlineMs: number): Promise<BatchOutcome> {
    // The driver would send a wrong count instead of failing.
    if (steps.some(({ values }) => values.length > MAX_PARAMETERS)) {
      return {
        outcomes: [],
        error: new RangeError(`A statement has more than ${MAX_PARAMETERS} parameters.`),
      }
    }
    const end = performance.now() + deadlineMs
    let received = this.receivedBytes
    const watch = () => {
      const leftMs = end - performance.now()
      if (leftMs <= 0) return this.#expire()
      if (this.receivedBytes === received) this.onSilent?.()
      received = this.receivedBytes
      timer = setTimeout(watch, Math.min(leftMs, silence.ms))
    }
    let timer = setTimeout(watch, Math.min(deadlineMs, silence.ms))
    // All are awaited: the connection must be idle when the batch has ended.
    const results = await Promise.allSettled(this.#send(steps))
    clearTimeout(timer)
    const outcomes: Outcome[] = []
    for (const [index, result] of results.entries()) {
      const statement = steps[index]?.statement
      // The format is that of the last result. After an error it is text: the types of its columns may have changed.
      if (statement)
        statement.hasBinaryResult = result.status === 'fulfilled' && hasBinaryBytes(result.value.fields)
    }
    for (const result of results) {
      if (result.status === 'rejected') return { outcomes, error: result.reason }
      outcomes.push(outcomeOf(result.value))
    }
    return { outcomes, error: undefined }
  }

  /** Bytes that have arrived so far. */
  get receivedBytes(): number {
    return (this.connection.stream as Socket).bytesRead
  }

  /** The process of the server. Behind a pooler it is none. */
  get processId(): number {
    // The driver has this property, and its types lack it.
    return (this as unknown as { processID: number | null }).processID ?? 0
  }

  /** Which of these processes do not work on a statement, or are gone. */
  async listIdle(processIds: readonly number[]): Promise<ReadonlySet<unknown>> {
    const step = { statement: listIdle, values: [`{${processIds.join(',')}}`] }
    const { outcomes, error } = await this.runBatch([step], CONNECT_MS)
    if (error instanceof Error) throw error
    return new Set(outcomes[0]?.rows.map(({ pid }) => pid))
  }

  /** All statements in one write: a system call for each costs more than all the rest of sending them. */
  #send(steps: readonly Step[]): Promise<QueryResult<Row>>[] {
    const { stream } = this.connection
    stream.cork()
    try {
      return steps.map((step) => this.#sendOne(step))
    } finally {
      stream.uncork()
    }
  }

  #sendOne({ statement: { name, text, hasBinaryResult }, values }: Step): Promise<QueryResult<Row>> {
    const { promise, resolve, reject } = Promise.withResolvers<QueryResult<Row>>()
    const sent = values.map((value) => (value instanceof ColumnArray ? value.bytes : value))
    const onEnd = (error: Error | null | undefined, result: QueryResult<Row>) =>
      error ? reject(error) : resolve(result)
    // Built from its text: the driver copies an object with options by its property descriptors, which is slow.
    const query = new Query(text, sent, onEnd)
    Object.assign(query, {
      ...(name !== '' && !this.isPooled && { name }),
      // One statement per text, also without parameters.
      queryMode: 'extended',
      binary: hasBinaryResult && this.#results === 'binary',
    })
    this.query(query)
    return promise
  }

  /** Resolves to a text that identifies this run of the server. Throws `unreachable` if it refuses writes. */
  async describeServer(): Promise<string> {
    const { outcomes, error } = await this.runBatch([{ statement: describeServer, values: [] }], CONNECT_MS)
    if (error instanceof Error) throw error
    const { server, pid, is_standby: isStandby } = outcomes[0]?.rows[0] ?? {}
    if (isStandby) {
      this.#hosts.noteFailure(this.#url)
      throw new DatabaseError('unreachable', 'PostgreSQL refuses writes, because it is a standby.')
    }
    this.isPooled = this.processId !== pid
    this.server = String(server)
    return this.server
  }

  /** Closes the connection without a word to the server, which may not listen. */
  drop(): void {
    this.connection.stream.destroy()
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    const timer = setTimeout(() => this.drop(), CLOSE_MS)
    this.once('end', () => clearTimeout(timer))
    if (callback === undefined) return super.end().finally(() => clearTimeout(timer))
    super.end((error) => {
      clearTimeout(timer)
      callback(error)
    })
    return undefined
  }

  #expire(): void {
    this.isOverdue = true
    this.drop()
  }
}

function outcomeOf({ rows, rowCount, command }: QueryResult<Row>): Outcome {
  return { rows, count: rowCount ?? 0, command }
}
