import { type ChildServer, spawnServer } from '../test/support/child-server.ts'
import { Client } from '../test/support/client.ts'
import type { LoadPlan, LoadResult } from './load/plan.ts'
import { type RequestShape, requestText } from './load/request-text.ts'
import { runLoad } from './load/run-load.ts'
import { type Memory, type MemoryPeak, readMemory } from './memory.ts'

export interface ServerOptions {
  readonly data: string
  readonly env: Record<string, string>
  readonly apiToken: string
  readonly peak: MemoryPeak
}

/** A load as scenarios describe it; the server adds where it goes and who sends it. */
export type Load = Omit<LoadPlan, 'host' | 'port' | 'request' | 'status'> & {
  readonly request: Omit<RequestShape, 'apiToken'> & { readonly anonymous?: true }
}

/** The server under test, in a process of its own. */
export class BenchServer {
  /** Speaks for the administrator. */
  readonly client: Client
  /** From its spawning until the process said it is ready. */
  readonly readyMs: number
  /** From its spawning until a ping was answered. */
  readonly firstPingMs: number
  readonly #child: ChildServer
  readonly #peak: MemoryPeak
  #stopped = false

  private constructor(
    child: ChildServer,
    options: ServerOptions,
    times: { readyMs: number; firstPingMs: number },
  ) {
    this.#child = child
    this.#peak = options.peak
    this.client = new Client(child.url, options.apiToken)
    this.readyMs = times.readyMs
    this.firstPingMs = times.firstPingMs
  }

  static async start(options: ServerOptions): Promise<BenchServer> {
    const began = performance.now()
    const child = await spawnServer(options.data, options.env)
    const readyMs = performance.now() - began
    const reply = await new Client(child.url).get('/api2/ping/')
    if (reply.status !== 200) throw new Error(`the first ping was answered with ${reply.status}`)
    return new BenchServer(child, options, { readyMs, firstPingMs: performance.now() - began })
  }

  /** Throws LoadError for any answer but 200. */
  async load({ request, ...plan }: Load): Promise<LoadResult> {
    const { hostname: host, port } = new URL(this.#child.url)
    const { anonymous, ...shape } = request
    const signed =
      anonymous || this.client.token === undefined ? shape : { ...shape, apiToken: this.client.token }
    return runLoad({
      ...plan,
      host,
      port: Number(port),
      request: requestText(signed, `${host}:${port}`),
      status: 200,
    })
  }

  memory(): Promise<Memory> {
    return readMemory(this.#child.process.pid ?? 0)
  }

  /** Lets it finish and waits for its end; its memory peak is noted before. May be repeated. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    this.#peak.note((await this.memory()).peak)
    const code = await this.#child.stop()
    if (code !== 0) throw new Error(`the server ended with ${code} when it was told to stop`)
  }
}
