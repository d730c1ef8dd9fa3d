import { Client, type ClientConfig, type QueryConfig, type QueryResult } from 'pg'
import type { Row } from '../database.ts'
import { type BatchOutcome, ColumnArray, type Outcome, type Step } from './batch.ts'

const connectTimeoutMs = 10_000

/** The protocol counts parameters in 16 bits. */
const MAX_PARAMETERS = 65_535

/** A connection that runs batches. The driver pipelines: it does not wait for one statement before it sends the next. */
export class PostgresClient extends Client {
  constructor(config: ClientConfig = {}) {
    // The timeout is not an option of the pool, which would include the time spent waiting for a free connection.
    super({ ...config, connectionTimeoutMillis: connectTimeoutMs, pipeline: true })
  }

  /** Runs the steps in order, in one round trip. Never rejects, even if the connection is lost. */
  async runBatch(steps: readonly Step[]): Promise<BatchOutcome> {
    // The driver would send a wrong count instead of failing.
    if (steps.some(({ values }) => values.length > MAX_PARAMETERS)) {
      return {
        outcomes: [],
        error: new RangeError(`A statement has more than ${MAX_PARAMETERS} parameters.`),
      }
    }
    // All are awaited: the connection must be idle when the batch has ended.
    const results = await Promise.allSettled(steps.map((step) => this.query<Row>(queryOf(step))))
    const outcomes: Outcome[] = []
    for (const result of results) {
      if (result.status === 'rejected') return { outcomes, error: result.reason }
      outcomes.push(outcomeOf(result.value))
    }
    return { outcomes, error: undefined }
  }
}

/**
 * Overrides server defaults: bytes are sent as hex, and a commit is on disk before it returns (I4). A stronger setting than `on`, such as
 * waiting for a replica, is left alone. Resolves to a text that identifies this run of the server.
 */
export async function prepareSession(client: {
  query(text: string): Promise<{ rows: { server?: string }[] } | { rows: { server?: string }[] }[]>
}): Promise<string> {
  const results = await client.query(`
    select set_config('bytea_output', 'hex', false);
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off';
    select concat_ws(' ', inet_server_addr(), pg_postmaster_start_time()) as server;
  `)
  return [results].flat().at(-1)?.rows[0]?.server ?? ''
}

function queryOf({ statement: { name, text }, values }: Step): QueryConfig & { queryMode: 'extended' } {
  return {
    ...(name !== '' && { name }),
    text,
    values: values.map((value) => (value instanceof ColumnArray ? value.bytes : value)),
    // One statement per text, also without parameters.
    queryMode: 'extended',
  }
}

function outcomeOf({ rows, rowCount, command }: QueryResult<Row>): Outcome {
  return { rows, count: rowCount ?? 0, command }
}
