import { Client, type ClientConfig } from 'pg'
import type { BatchOutcome, Step } from './batch.ts'

const connectTimeoutMs = 10_000

/** How statements are sent: by the driver, or by our own messages that need fewer bytes and less CPU time. */
export type PostgresImplementation = 'plain' | 'fast'

/** A connection that runs batches. */
export abstract class PostgresClient extends Client {
  constructor(config: ClientConfig = {}) {
    // Not an option of the pool, which would include the time spent waiting for a free connection.
    super({ ...config, connectionTimeoutMillis: connectTimeoutMs })
  }

  /** Runs the steps in order, in one round trip. Never rejects, even if the connection is lost. */
  abstract runBatch(steps: readonly Step[]): Promise<BatchOutcome>
}

export type PostgresClientClass = new (config?: ClientConfig) => PostgresClient

/** Loads only the implementation in use. */
export async function loadClientClass(implementation: PostgresImplementation): Promise<PostgresClientClass> {
  return implementation === 'plain'
    ? (await import('./plain/plain-client.ts')).PlainClient
    : (await import('./fast/fast-client.ts')).FastClient
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
