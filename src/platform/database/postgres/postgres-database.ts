import { Pool, type PoolClient, type QueryConfig, DatabaseError as ServerError } from 'pg'
import { type MaybePromise, Semaphore } from '../../../base/scheduling/index.ts'
import type { CommitGuard, RequestOptions, Row, Transaction, Value, WriteOptions } from '../database.ts'
import { DatabaseError, databaseClosed } from '../errors.ts'
import { type Logger, silentLogger } from '../logger.ts'
import type { Migratable } from '../migrate.ts'
import { RequestWaits, refuseExpired } from '../request-waits.ts'
import { RowCache, type RowCacheStatistics } from '../row-cache.ts'
import { runInSideProcess } from '../side-process.ts'
import { Availability, isUnreachable } from './availability.ts'
import type { BatchOutcome, Outcome, Step } from './batch.ts'
import {
  backgroundLimits,
  CONNECT_MS,
  deadlineOf,
  POOL_WAIT_MS,
  requestLimits,
  SETTLE_MS,
  type StatementLimits,
  schemaLimits,
} from './deadlines.ts'
import { dumpPostgres } from './dump.ts'
import { asksForRetry, isOfStandby, isStalePlan, translate } from './faults.ts'
import { handled } from './handled.ts'
import { Hosts } from './hosts.ts'
import { isLockTimeout, lockSteps, unlockStep } from './mutex.ts'
import { commitStep, LIMITED_READ, limitedRead, openingOf } from './opening.ts'
import { PostgresClient, type PostgresClientConfig, type ResultFormat } from './postgres-client.ts'
import { PostgresTransaction, type TransactionContext } from './postgres-transaction.ts'
import { ReadConnection } from './read-connection.ts'
import { Reads } from './reads.ts'
import { claimReceipt, isMissingForSure, pruneReceipts } from './receipts.ts'
import { Schema, type SchemaRow, schemaQuery } from './schema.ts'
import { Snapshots } from './snapshots.ts'
import { Statements } from './statements.ts'
import { valueTypes } from './values.ts'

interface PostgresOptions {
  readonly url: string
  /** Connections at most. */
  readonly poolSize?: number
  readonly results?: ResultFormat
  /** Part of every database's options; PostgreSQL looks after its own disk, so it is not called. */
  readonly onFatal: (error: Error) => void
  readonly logger?: Logger
}

const defaultPoolSize = 10
const maxAttempts = 10
const oldestServer = 150_000
const PRUNE_INTERVAL_MS = 60_000
const VACUUM_MS = 3_600_000
/** A silent connection is probed after this. */
const KEEP_ALIVE_MS = 10_000

/** Connects and checks that the server will do; the schema is left as found. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresDatabase> {
  const db = connectPostgres(options)
  try {
    await db.checkServer()
    return db
  } catch (error) {
    await db[Symbol.asyncDispose]()
    throw error
  }
}

/** As `openPostgres`, without the check. Connects when first used. */
export function connectPostgres(options: PostgresOptions): PostgresDatabase {
  return new PostgresDatabase(options)
}

/** PostgreSQL over a pool of connections. */
export class PostgresDatabase implements Migratable {
  readonly dialect = 'postgres'
  readonly isShared = true
  schemaVersion = 0
  commitGuard: CommitGuard | undefined
  readonly logBytes = undefined
  readonly #config: PostgresClientConfig
  readonly #pool: Pool
  readonly #waits = new RequestWaits()
  /** The connections of the pool. */
  readonly #connections = new Set<PooledClient>()
  /** Those on which nothing arrives, with the bytes that had arrived before. */
  readonly #silent = new Map<PooledClient, number>()
  #isProbing = false
  readonly #url: string
  readonly #place: string
  readonly #hosts: Hosts
  readonly #statements = new Statements()
  readonly #cache = new RowCache()
  readonly #reader: ReadConnection
  readonly #reads: Reads
  readonly #context: TransactionContext
  readonly #availability: Availability
  /** Half of the pool may wait for mutexes or hold them: the work under a mutex needs another connection. */
  readonly #mutexes: Semaphore
  /** Half of the pool may run reads that are not known to be fast, such as searches. The rest is for transactions. */
  readonly #slowReads: Semaphore
  #schema: Schema | undefined
  #isLearning = false
  /** Schema generation. A schema query that was in flight when the schema changed must not overwrite the newer one. */
  #schemaGeneration = 0
  /** The server of the newest connection. */
  #server: string | undefined
  /** Counts connections that failed in a way that others may share. */
  #generation = 0
  /** Whether transactions leave receipts. Once it is known that the table exists, it does not vanish with the schema. */
  #hasReceipts = false
  #hasPooler = false
  #prunedAt = Number.NEGATIVE_INFINITY
  #closed = false

  constructor({
    url,
    poolSize = defaultPoolSize,
    results = 'binary',
    logger = silentLogger,
  }: PostgresOptions) {
    this.#url = url
    this.#hosts = new Hosts(url)
    this.#place = this.#hosts.urls.map(placeOf).join(', ')
    this.#config = {
      hosts: this.#hosts,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      types: valueTypes,
      results,
      // Programs from before nodes had rows are `carrel`, so that a start can tell them from itself.
      application_name: 'carrel node',
    }
    this.#pool = new Pool({
      ...this.#config,
      max: poolSize,
      Client: PostgresClient as unknown as new () => PostgresClient,
      connectionTimeoutMillis: POOL_WAIT_MS,
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool does wait for it
      onConnect: async (client) => {
        const opened = client as PooledClient
        opened.generation = this.#generation
        opened.onSilent = () => this.#noteSilence(opened)
        // After a failover the pool may reach the new server while the read connection still waits for the old one.
        if (this.#noteServer(await opened.describeServer())) this.#reader.reconnect()
        if (opened.isPooled) this.#notePooler(logger)
      },
    })
    this.#pool.on('error', (error) => logger.warn({ err: error }, 'lost an idle connection to PostgreSQL'))
    this.#pool.on('connect', (client) => this.#connections.add(client as PooledClient))
    this.#pool.on('remove', (client) => this.#connections.delete(client as PooledClient))
    this.#availability = new Availability(logger)
    this.#mutexes = new Semaphore(Math.max(1, Math.floor(poolSize / 2)))
    this.#slowReads = new Semaphore(Math.max(1, Math.floor(poolSize / 2)))
    const schema = () => this.#knownSchema()
    const snapshots = new Snapshots(this.#cache, () => this.#hasReceipts)
    this.#reader = new ReadConnection(this.#config, (server) => {
      snapshots.reset()
      this.#noteServer(server)
    })
    this.#reads = new Reads(
      (step) => this.#readAlone(step),
      (steps) => this.#readBatch(steps),
      this.#cache,
      snapshots,
      schema,
      this.#waits,
    )
    this.#context = {
      statements: this.#statements,
      snapshots,
      schema,
      translate: (error) => this.#translate(error),
      hasReceipts: () => this.#hasReceipts,
    }
  }

  all<R extends object = Row>(sql: string, ...parameters: Value[]): MaybePromise<R[]> {
    const found = this.#find(sql, parameters)
    const list = found instanceof Promise ? handled(found.then(copyOf)) : copyOf(found)
    return list as MaybePromise<R[]>
  }

  get<R extends object = Row>(sql: string, ...parameters: Value[]): MaybePromise<R | undefined> {
    const found = this.#find(sql, parameters)
    const first = found instanceof Promise ? handled(found.then(firstOf)) : firstOf(found)
    return first as MaybePromise<R | undefined>
  }

  async write<T>(work: (tx: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (this.#closed) throw databaseClosed()
    const { request } = this.#reads
    this.#waits.enter(request)
    try {
      return await this.#write(work, options)
    } finally {
      this.#waits.leave(request)
    }
  }

  async #write<T>(work: (tx: Transaction) => Promise<T>, options: WriteOptions): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { result, tx } = await this.#availability.retry(() => this.#attempt(work, options))
        options.onCommitted?.()
        tx.announce()
        if (tx.receiptId !== undefined) this.#pruneReceipts()
        return result
      } catch (error) {
        if (attempt === maxAttempts || !asksForRetry(error)) throw error
      }
    }
  }

  async withMutex<T>(key: number, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw databaseClosed()
    const acquired = Promise.withResolvers<void>()
    void handled(this.awaitInRequest(acquired.promise, () => true))
    return this.#mutexes.run(async () => {
      const client = await this.#availability.retry(() => this.#lock(key)).finally(acquired.resolve)
      try {
        return await work()
      } finally {
        const { error } = await client.runBatch([unlockStep], CONNECT_MS)
        this.#release(client, error === undefined)
      }
    })
  }

  /** A connection that holds the mutex, or has waited for it long enough. */
  async #lock(key: number): Promise<PooledClient> {
    const client = await this.#connect()
    const { error } = await client.runBatch(lockSteps(key), deadlineOf(requestLimits))
    if (error === undefined || isLockTimeout(error)) return client
    this.#release(client, false)
    throw this.#translate(error)
  }

  async runInSideProcess<Result>(job: URL, input: unknown, signal: AbortSignal): Promise<Result> {
    if (this.#closed) throw databaseClosed()
    return runInSideProcess<Result>({ kind: 'postgres', url: this.#url }, job, input, signal)
  }

  /** A commit is visible once it is durable. What is committed without a flush may be lost. */
  async flushed(): Promise<void> {
    if (this.#closed) throw databaseClosed()
  }

  /** The caches are those of the database server. */
  async releasePageCaches(): Promise<void> {}

  inRequest<T>(work: () => T, { key }: RequestOptions = {}): T {
    return this.#reads.inRequest(work, key?.())
  }

  awaitInRequest<T>(work: Promise<T>, withdraw: () => boolean): Promise<T> {
    return this.#waits.track(this.#reads.request, work, withdraw)
  }

  get cacheStatistics(): RowCacheStatistics {
    return this.#cache.statistics
  }

  /** VACUUM, as autovacuum would do later. It neither blocks writers nor waits for them. */
  async releaseFreePages(signal: AbortSignal): Promise<number> {
    const sizeBefore = await this.#databaseBytes()
    const tables = await this.all<{ name: string }>(
      `select quote_ident(relname) as name from pg_stat_user_tables
       where schemaname = current_schema() and n_dead_tup > 0 order by relname`,
    )
    for (const { name } of tables) {
      if (signal.aborted || this.#closed) break
      await this.#vacuum(name)
    }
    return Math.max(0, sizeBefore - (await this.#databaseBytes()))
  }

  async #databaseBytes(): Promise<number> {
    const row = await this.get<{ bytes: number }>('select pg_database_size(current_database()) as bytes')
    return row?.bytes ?? 0
  }

  // A simple query: VACUUM is not allowed in a transaction.
  async #vacuum(quotedTable: string): Promise<void> {
    const client = await this.#connect()
    let usable = false
    try {
      // The driver sends no deadline to the server. Past it, the connection is closed.
      await client.query({
        text: `vacuum (skip_locked) ${quotedTable}`,
        query_timeout: VACUUM_MS,
      } as QueryConfig)
      usable = true
    } catch (error) {
      throw this.#translate(error)
    } finally {
      this.#release(client, usable)
    }
  }

  async ping(): Promise<void> {
    await this.get('select 1')
  }

  readonly backupExtension = 'sql.gz'

  backUp(file: string, schemaVersion: number): Promise<void> {
    return dumpPostgres(this.#url, file, schemaVersion)
  }

  async checkServer(): Promise<void> {
    const server = await this.get<{ version: number; encoding: string }>(
      `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
    )
    if (!server || server.version < oldestServer) {
      throw new Error(`PostgreSQL at ${this.#place} is too old: Carrel needs version 15 or newer.`)
    }
    if (server.encoding !== 'UTF8') {
      throw new Error(
        `The PostgreSQL database at ${this.#place} has encoding ${server.encoding}; create one with encoding UTF8.`,
      )
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#waits[Symbol.dispose]()
    await this.#reads.settled()
    await Promise.all([this.#pool.end(), this.#reader.end()])
  }

  #find(sql: string, parameters: readonly Value[]): MaybePromise<readonly Row[]> {
    try {
      if (this.#closed) throw databaseClosed()
      const found = this.#reads.find(this.#statements.of(sql), parameters)
      return found instanceof Promise ? this.#countWait(found) : found
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #countWait<T>(found: Promise<T>): Promise<T> {
    const { request } = this.#reads
    this.#waits.enter(request)
    try {
      return await found
    } finally {
      this.#waits.leave(request)
    }
  }

  async #readBatch(steps: readonly Step[]): Promise<BatchOutcome> {
    const outcome = await this.#reader.send(steps)
    if (outcome.error === undefined) this.#availability.noteSuccess()
    // The reads of this batch are sent again, each by itself.
    if (isStalePlan(outcome.error)) this.#reader.reconnect()
    return outcome
  }

  #readAlone(step: Step): Promise<Outcome> {
    const limits = this.#limits()
    return this.#slowReads.run(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#availability.retry(() => this.#attemptRead(step, limits))
        } catch (error) {
          if (attempt === maxAttempts || !isStalePlan(error)) throw error
        }
      }
    })
  }

  async #attemptRead(step: Step, limits: StatementLimits): Promise<Outcome> {
    const client = await this.#connect()
    const { outcomes, error } = await client.runBatch(limitedRead(step, limits), deadlineOf(limits))
    const failure = this.#translate(error)
    const isStale = isStalePlan(failure)
    if (isStale) this.#replaceConnections(client)
    this.#release(client, !isStale && !isUnreachable(failure))
    const outcome = outcomes[LIMITED_READ]
    if (outcome !== undefined) return outcome
    throw failure
  }

  #limits(): StatementLimits {
    return this.#reads.request === undefined ? backgroundLimits : requestLimits
  }

  async #attempt<T>(
    work: (tx: Transaction) => Promise<T>,
    { durable = true, isLong = false }: WriteOptions,
  ): Promise<{ result: T; tx: PostgresTransaction }> {
    const limits = isLong ? schemaLimits : this.#limits()
    const guard = this.commitGuard
    const lease = guard && { query: guard.query, name: guard.currentLease() }
    const { request } = this.#reads
    const client = await this.#connect()
    const onAnswer = () => this.#waits.progress(request)
    const tx = new PostgresTransaction(client, this.#context, {
      durable: durable !== false,
      limits,
      lease,
      onAnswer,
    })
    let usable = false
    try {
      const result = await work(tx)
      refuseExpired(request)
      if (request !== undefined && durable === true && tx.changes) request.mayHaveChanged = true
      try {
        await tx.commit()
        usable = true
      } catch (error) {
        if (!isUncertain(error)) throw error
        await this.#settleCommit(tx, error)
      }
      return { result, tx }
    } catch (error) {
      usable = await tx.rollBack()
      if (isOfStandby(tx.failure) || isStalePlan(tx.failure)) {
        usable = false
        this.#replaceConnections(client)
      }
      // The work may have wrapped or swallowed the error by which the server asks for a retry, or that of a lost connection.
      throw asksForRetry(tx.failure) || isUnreachable(tx.failure) ? tx.failure : error
    } finally {
      this.#release(client, usable)
      if (tx.changedSchema) this.#forgetSchema()
    }
  }

  /**
   * Finds out whether a commit was carried out whose response was lost. Resolves if so. Rejects with `unreachable` if not, so that the work is run again, and with
   * the given error if it cannot be found out.
   */
  async #settleCommit(tx: PostgresTransaction, uncertain: DatabaseError): Promise<void> {
    const { receiptId, beganAt } = tx
    if (receiptId === undefined) throw uncertain
    const since = performance.now()
    for (;;) {
      try {
        const { tables, now } = await this.#availability.retry(() => this.#claimReceipt(receiptId))
        if (tables !== '') return tx.confirm()
        throw isMissingForSure(beganAt, now) ? uncertain.cause : uncertain
      } catch (error) {
        if (error === uncertain.cause) throw error
        // The transaction may still run, for example because it waits for a standby.
        if (!isBusy(error) || performance.now() - since > SETTLE_MS) throw uncertain
      }
    }
  }

  async #claimReceipt(id: number): Promise<{ tables: unknown; now: number }> {
    const client = await this.#connect()
    const steps = [...openingOf(true, requestLimits), ...claimReceipt(id)]
    const { outcomes, error } = await client.runBatch([...steps, commitStep], deadlineOf(requestLimits))
    this.#release(client, error === undefined)
    if (error !== undefined) throw this.#translate(error)
    const { tables, now } = outcomes[steps.length - 1]?.rows[0] ?? {}
    return { tables, now: Number(now) }
  }

  #pruneReceipts(): void {
    if (performance.now() - this.#prunedAt < PRUNE_INTERVAL_MS || this.#closed) return
    this.#prunedAt = performance.now()
    // What is left is deleted next time.
    this.write((tx) => tx.run(pruneReceipts), { durable: false }).catch(() => {})
  }

  #notePooler(logger: Logger): void {
    if (this.#hasPooler) return
    this.#hasPooler = true
    logger.info(
      { database: this.#place },
      'a pooler is in front of PostgreSQL, so statements are not prepared',
    )
  }

  /** True if it is another server than before, or another run of it: its schema may be another one too. */
  #noteServer(server: string): boolean {
    const before = this.#server
    this.#server = server
    if (before === undefined || before === server) return false
    this.#forgetSchema()
    // Nothing that comes from the other one counts any more, and it may never answer.
    for (const client of this.#connections) if (client.server !== server) client.drop()
    return true
  }

  #noteSilence(client: PooledClient): void {
    this.#silent.set(client, client.receivedBytes)
    if (this.#isProbing || this.#closed) return
    this.#isProbing = true
    void this.#probe().finally(() => {
      this.#isProbing = false
    })
  }

  /**
   * Closes silent connections if the server does not work on their statements, or is silent itself. What waits for them is repeated through others. A slow statement goes
   * on: the server cancels it at its limit.
   */
  async #probe(): Promise<void> {
    const probe = new PostgresClient(this.#config)
    const suspects = new Map(this.#silent)
    this.#silent.clear()
    const dropIf = (isDead: (client: PooledClient) => boolean) => {
      for (const [client, bytes] of suspects) {
        if (client.receivedBytes === bytes && isDead(client)) client.drop()
      }
    }
    try {
      await probe.connect()
      this.#noteServer(await probe.describeServer())
      const idle = await probe.listIdle([...suspects.keys()].map(({ processId }) => processId))
      dropIf((client) => !client.isPooled && idle.has(client.processId))
    } catch (error) {
      // It says something, if only that it has too many connections.
      if (!(error instanceof ServerError)) dropIf(() => true)
    } finally {
      probe.drop()
    }
  }

  // Until the schema is loaded, reads are not cached and bulk inserts fall back to one INSERT per row.
  #knownSchema(): Schema | undefined {
    if (this.#schema === undefined && !this.#isLearning && !this.#closed) {
      this.#isLearning = true
      void this.#learnSchema()
    }
    return this.#schema
  }

  async #learnSchema(): Promise<void> {
    const version = ++this.#schemaGeneration
    const outcome = await this.#readAlone({ statement: this.#statements.of(schemaQuery), values: [] }).catch(
      () => undefined,
    )
    if (version !== this.#schemaGeneration) return
    this.#isLearning = false
    if (outcome === undefined) return
    this.#schema = new Schema(outcome.rows as unknown as SchemaRow[])
    if (this.#schema.graph.has('committed_transaction')) this.#hasReceipts = true
  }

  #forgetSchema(): void {
    this.#schema = undefined
    this.#isLearning = false
    this.#schemaGeneration += 1
  }

  async #connect(): Promise<PooledClient> {
    for (let attempt = 1; ; ) {
      try {
        const client = (await this.#pool.connect()) as PooledClient
        if (client.generation === this.#generation) return client
        this.#release(client, false)
      } catch (error) {
        const failure = this.#translate(error)
        if (!isUnreachable(failure) || attempt >= this.#hosts.urls.length) throw failure
        attempt += 1
      }
    }
  }

  /** Returns a connection to the pool. One that is not usable is closed. */
  #release(client: PooledClient, usable: boolean): void {
    if (usable) this.#availability.noteSuccess()
    else client.drop()
    // Others that were opened before it may hang as well, and are not tried one by one.
    if (client.isOverdue) this.#replaceConnections(client)
    client.release(!usable)
  }

  /** Closes the connections that are as old as this one, or older, when they are used next. */
  #replaceConnections({ generation }: PooledClient): void {
    if (generation === this.#generation) this.#generation += 1
  }

  #translate(error: unknown): unknown {
    return translate(error, this.#place)
  }
}

/** The rows are shared, the list is the caller's. */
function copyOf(rows: readonly Row[]): Row[] {
  return rows.slice()
}

function firstOf(rows: readonly Row[]): Row | undefined {
  return rows[0]
}

function isUncertain(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.reason === 'uncertain'
}

function isBusy(error: unknown): boolean {
  return error instanceof DatabaseError && error.reason === 'busy'
}

type PooledClient = PoolClient & PostgresClient

function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'the given address'
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}
