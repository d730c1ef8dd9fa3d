import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { dbOf } from '../../src/libraries/library/core.ts'
import { Client } from './client.ts'
import type { PostgresServer } from './postgres.ts'
import { startServer, type TestServer, type TestServerOptions } from './server.ts'

const SECRET = 'the secret that all nodes have'

/** Several servers on one PostgreSQL database, each with a data folder of its own. */
export class Nodes implements AsyncDisposable {
  readonly env: Record<string, string>
  readonly #running = new AsyncDisposableStack()
  /** The block store that all nodes share, like a bucket. */
  readonly #blocks: string

  private constructor(env: Record<string, string>, blocks: string) {
    this.env = env
    this.#blocks = blocks
    this.#running.defer(() => rm(blocks, { recursive: true, force: true }))
  }

  static async create(postgres: PostgresServer, settings: Record<string, string> = {}): Promise<Nodes> {
    const blocks = await mkdtemp(path.join(os.tmpdir(), 'carrel-blocks-'))
    await writeFile(path.join(blocks, 'store-id'), 'the-store-of-all-nodes')
    const env = {
      CARREL_DATABASE: await postgres.createWithSchema(),
      CARREL_SECRET: SECRET,
      CARREL_LOG: 'silent',
      ...settings,
    }
    return new Nodes(env, blocks)
  }

  /** Starts one more node. */
  async start(options: TestServerOptions = {}): Promise<TestServer> {
    const data = options.data ?? (await this.#newFolder())
    return this.#running.use(await startServer({ ...options, data, env: { ...this.env, ...options.env } }))
  }

  /** Opening a store on disk deletes temporary files, so nodes are started while nothing is written. */
  async #newFolder(): Promise<string> {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-node-'))
    this.#running.defer(() => rm(data, { recursive: true, force: true }))
    await symlink(this.#blocks, path.join(data, 'blocks'))
    return data
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#running.disposeAsync()
  }
}

/** The same account at another node. */
export function at(node: TestServer, client: Client): Client {
  return new Client(node.url, client.token, client.email)
}

/** Makes a node look dead: it has no heartbeat any more, and its last one was a minute ago. What it does goes on. */
export async function declareDead({ running }: TestServer): Promise<void> {
  const { node, core } = running.services
  node.beat = async () => {}
  const sql = 'update cluster_node set heartbeat_at = heartbeat_at - 60 where id = ?'
  await dbOf(core).write((tx) => tx.run(sql, node.id))
}
