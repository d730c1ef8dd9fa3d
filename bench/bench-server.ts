import { type ChildServer, spawnServer } from '../test/support/child-server.ts'
import { Client } from '../test/support/client.ts'
import { HttpTarget, type LongUpload, type Measured, type Load as TargetLoad } from './http-target.ts'
import type { LoadResult } from './load/plan.ts'
import type { RequestShape } from './load/request-text.ts'
import type { StreamResult } from './load/stream-plan.ts'
import { type Memory, type MemoryPeak, readMemory } from './memory.ts'

export interface ServerOptions {
  readonly data: string
  readonly env: Record<string, string>
  readonly apiToken: string
  readonly peak: MemoryPeak
}

type Request = Omit<RequestShape, 'apiToken'> & { readonly anonymous?: true }

/** A load as scenarios describe it; the server adds where it goes and who sends it. */
export type Load = Omit<TargetLoad, 'request'> & { readonly request: Request | readonly Request[] }

/** The server under test, in a process of its own. */
export class BenchServer {
  /** Speaks for the administrator. */
  readonly client: Client
  /** From its spawning until the process said it is ready. */
  readonly readyMs: number
  /** From its spawning until a ping was answered. */
  readonly firstPingMs: number
  readonly #child: ChildServer
  readonly #target: HttpTarget
  readonly #peak: MemoryPeak
  #stopped = false

  private constructor(
    child: ChildServer,
    options: ServerOptions,
    times: { readyMs: number; firstPingMs: number },
  ) {
    this.#child = child
    this.#target = new HttpTarget(child.url, child.process.pid ?? 0)
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

  /** Throws LoadError for any answer of another status than declared, which is 200 unless given. */
  load({ request, ...load }: Load): Promise<Measured<LoadResult>> {
    const requests = ('path' in request ? [request] : request).map(({ anonymous, ...shape }) =>
      anonymous || this.client.token === undefined ? shape : { ...shape, apiToken: this.client.token },
    )
    return this.#noted(() => this.#target.load({ ...load, request: requests }))
  }

  /** Sends long bodies to links, all at once. Throws LoadError. */
  upload(uploads: readonly LongUpload[]): Promise<Measured<StreamResult>> {
    return this.#noted(() => this.#target.upload(uploads, 200))
  }

  /** Reads long answers, all at once. Throws LoadError. */
  download(paths: readonly string[]): Promise<Measured<StreamResult>> {
    return this.#noted(() => this.#target.download(paths))
  }

  /** Runs any work that has the server do something, and counts what it costs the server. */
  meter<Result extends object>(work: () => Promise<Result>): Promise<Measured<Result>> {
    return this.#noted(() => this.#target.meter(work))
  }

  memory(): Promise<Memory> {
    return readMemory(this.#child.process.pid ?? 0)
  }

  /** Lets it finish and waits for its end; its memory peak is noted before. May be repeated. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    await this.#notePeak()
    const code = await this.#child.stop()
    if (code !== 0) throw new Error(`the server ended with ${code} when it was told to stop`)
  }

  /** A row makes the process forget its peak, so that is noted before and after. */
  async #noted<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#notePeak()
    const result = await work()
    await this.#notePeak()
    return result
  }

  async #notePeak(): Promise<void> {
    this.#peak.note((await this.memory()).peak)
  }
}
