import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { type ChildServer, spawnServer } from './child-server.ts'
import { findFreePort, type PostgresServer } from './postgres.ts'

/** A node that is a process of its own, at an address that stays the same after a restart. */
export interface NodeProcess {
  readonly url: string
  readonly port: number
  /** As a power failure of its machine. */
  kill(): Promise<void>
  /** An orderly stop. Resolves to the exit code. */
  stop(): Promise<number | null>
  start(): Promise<void>
}

/** Real processes on one PostgreSQL database and one block store. */
export class NodeProcesses implements AsyncDisposable {
  readonly nodes: readonly NodeProcess[]
  readonly #opened: AsyncDisposableStack

  private constructor(nodes: readonly NodeProcess[], opened: AsyncDisposableStack) {
    this.nodes = nodes
    this.#opened = opened
  }

  static async start(
    postgres: PostgresServer,
    count: number,
    settings: Record<string, string> = {},
  ): Promise<NodeProcesses> {
    await using opened = new AsyncDisposableStack()
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-nodes-'))
    opened.defer(() => rm(folder, { recursive: true, force: true }))
    const blocks = await mkdtemp(path.join(folder, 'blocks-'))
    await writeFile(path.join(blocks, 'store-id'), 'the-store-of-all-nodes')
    const common = {
      CARREL_DATABASE: await postgres.createWithSchema(),
      CARREL_SECRET: 'the secret that all nodes have',
      ...settings,
    }
    const nodes: NodeProcess[] = []
    for (let index = 0; index < count; index += 1) {
      const data = await mkdtemp(path.join(folder, 'data-'))
      await symlink(blocks, path.join(data, 'blocks'))
      const node = new Node(await findFreePort(), data, common)
      opened.defer(() => node.kill())
      await node.start()
      nodes.push(node)
    }
    return new NodeProcesses(nodes, opened.move())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync()
  }
}

class Node implements NodeProcess {
  readonly port: number
  readonly url: string
  readonly #data: string
  readonly #env: Record<string, string>
  #server: ChildServer | undefined

  constructor(port: number, data: string, env: Record<string, string>) {
    this.port = port
    this.url = `http://127.0.0.1:${port}`
    this.#data = data
    this.#env = { ...env, CARREL_PORT: String(port) }
  }

  async start(): Promise<void> {
    this.#server = await spawnServer(this.#data, this.#env)
  }

  async kill(): Promise<void> {
    await this.#server?.kill()
  }

  async stop(): Promise<number | null> {
    return (await this.#server?.stop()) ?? null
  }
}
