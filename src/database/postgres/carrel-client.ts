import { Client, type ClientConfig } from 'pg'
import { Prepared } from './batch.ts'

const connectTimeoutMs = 10_000

/** A connection with its prepared statements. */
export class CarrelClient extends Client {
  readonly prepared = new Prepared()

  // The pool would count the time spent waiting for a free connection too, and a busy server is no error: only reaching the server
  // is timed.
  constructor(config?: string | ClientConfig) {
    super(typeof config === 'string' ? config : { ...config, connectionTimeoutMillis: connectTimeoutMs })
  }
}

/**
 * Overrides defaults of the server: bytes come as hex, and a commit means on disk (I4). A stronger promise than `on`, such as waiting
 * for a replica, is left as the operator set it. Resolves to what distinguishes this run of the server from any other.
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
