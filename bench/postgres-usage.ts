import { readFile } from 'node:fs/promises'
import { Client } from 'pg'
import { UsageMeter } from './usage.ts'

/** Measures the PostgreSQL server of this machine behind a connection string, from `start` to `read`. */
export class PostgresMeter implements AsyncDisposable {
  readonly #client: Client
  readonly #usage: UsageMeter
  readonly #before: number

  private constructor(client: Client, usage: UsageMeter, before: number) {
    this.#client = client
    this.#usage = usage
    this.#before = before
  }

  static async start(url: string): Promise<PostgresMeter> {
    const client = new Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    // All processes of the server have one parent.
    const usage = await UsageMeter.start(await parentOf(rows[0]?.pid ?? 0))
    return new PostgresMeter(client, usage, await transactionsOf(client))
  }

  /** Transactions are those of the database. A statement outside of a transaction is one, too, also if it only reads. */
  async read(): Promise<{ readonly cpuSeconds: number; readonly transactions: number }> {
    const { cpuSeconds } = await this.#usage.read()
    return { cpuSeconds, transactions: (await transactionsOf(this.#client)) - this.#before }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}

async function transactionsOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
  )
  return Number(rows[0]?.count)
}

async function parentOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The process name may contain spaces. The state and the parent follow it.
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
}
