import { Client, type ClientConfig, Pool, type PoolClient } from 'pg'
import { runAside } from '../aside.ts'
import type { Row, Transaction, Value, WriteOptions } from '../database.ts'
import { DatabaseError, databaseClosed } from '../errors.ts'
import { type Logger, silentLogger } from '../logger.ts'
import type { Migratable } from '../migrate.ts'
import { asksForRetry, translate } from './faults.ts'
import { PostgresTransaction } from './postgres-transaction.ts'
import { Statements } from './statements.ts'
import { valueTypes } from './values.ts'

export interface PostgresOptions {
  readonly url: string
  /** Connections at most. */
  readonly poolSize?: number
  /** Part of every database's options; PostgreSQL looks after its own disk, so it is not called. */
  readonly onFatal: (error: Error) => void
  readonly logger?: Logger
}

const defaultPoolSize = 10
const connectTimeoutMs = 10_000
const maxAttempts = 10
const oldestServer = 150_000

/** Connects and checks that the server will do; the schema is left as found. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresDatabase> {
  const db = new PostgresDatabase(options)
  try {
    await db.checkServer()
    return db
  } catch (error) {
    await db[Symbol.asyncDispose]()
    throw error
  }
}

/** PostgreSQL over a pool of connections. */
export class PostgresDatabase implements Migratable {
  readonly dialect = 'postgres'
  schemaVersion = 0
  readonly #pool: Pool
  readonly #url: string
  readonly #place: string
  readonly #statements = new Statements()
  #closed = false

  constructor({ url, poolSize = defaultPoolSize, logger = silentLogger }: PostgresOptions) {
    this.#url = url
    this.#place = placeOf(url)
    this.#pool = new Pool({
      connectionString: url,
      max: poolSize,
      keepAlive: true,
      types: valueTypes,
      application_name: 'carrel',
      Client: TimedClient,
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool does wait for it
      onConnect: prepareSession,
    })
    // A connection can be lost while idle or between two statements. Whoever uses it next is told by
    // the statement that fails; without these listeners the process would end.
    this.#pool.on('error', (error) => logger.warn({ err: error }, 'lost an idle connection to PostgreSQL'))
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  async all<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]> {
    if (this.#closed) throw databaseClosed()
    try {
      return (await this.#pool.query(this.#statements.query(sql, parameters))).rows as R[]
    } catch (error) {
      throw this.#translate(error)
    }
  }

  async get<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    return (await this.all<R>(sql, ...parameters))[0]
  }

  async write<T>(work: (tx: Transaction) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (this.#closed) throw databaseClosed()
    for (let attempt = 1; ; attempt++) {
      try {
        const { result, tx } = await this.#attempt(work, options)
        options.onCommitted?.()
        tx.announce()
        return result
      } catch (error) {
        if (attempt === maxAttempts || !asksForRetry(error)) throw error
      }
    }
  }

  async aside<Result>(job: URL, input: unknown, signal: AbortSignal): Promise<Result> {
    if (this.#closed) throw databaseClosed()
    return runAside<Result>({ kind: 'postgres', url: this.#url }, job, input, signal)
  }

  async ping(): Promise<void> {
    await this.get('select 1')
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
    await this.#pool.end()
  }

  async #attempt<T>(
    work: (tx: Transaction) => Promise<T>,
    options: WriteOptions,
  ): Promise<{ result: T; tx: PostgresTransaction }> {
    const client = await this.#connect()
    const tx = new PostgresTransaction(client, this.#statements, (error) => this.#translate(error))
    let usable = false
    try {
      await this.#control(client, beginText(options))
      const result = await work(tx)
      await tx.settle()
      tx.throwIfFailed()
      const { command } = await this.#control(client, 'commit')
      if (command !== 'COMMIT') throw new DatabaseError('other', 'PostgreSQL rolled the transaction back.')
      usable = true
      return { result, tx }
    } catch (error) {
      await tx.settle()
      usable = await rollBack(client)
      // The work may have wrapped or hidden the server's wish to be tried again.
      throw asksForRetry(tx.failure) ? tx.failure : error
    } finally {
      client.release(!usable)
    }
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect()
    } catch (error) {
      throw this.#translate(error)
    }
  }

  async #control(client: PoolClient, text: string) {
    try {
      return await client.query(text)
    } catch (error) {
      throw this.#translate(error)
    }
  }

  #translate(error: unknown): unknown {
    return translate(error, this.#place)
  }
}

// The pool would count the time spent waiting for a free connection too, and a busy server is no
// error: only reaching the server is timed.
class TimedClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(typeof config === 'string' ? config : { ...config, connectionTimeoutMillis: connectTimeoutMs })
  }
}

// Whatever the server's defaults are: bytes come as hex, and a commit means on disk (I4). A stronger
// promise than `on`, such as waiting for a replica, is left as the operator set it.
async function prepareSession(client: { query(text: string): Promise<unknown> }): Promise<void> {
  await client.query(`
    select set_config('bytea_output', 'hex', false);
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off';
  `)
}

function beginText({ durable = true }: WriteOptions): string {
  const begin = 'begin isolation level read committed read write'
  return durable ? begin : `${begin}; set local synchronous_commit = off`
}

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('rollback')
    return true
  } catch {
    // The connection is gone, and the transaction with it; the caller gets the error that led here.
    return false
  }
}

function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'the given address'
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}
