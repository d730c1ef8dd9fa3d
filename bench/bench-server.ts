import { type ChildServer, spawnServer } from '../test/support/child-server.ts'
import { Client } from '../test/support/client.ts'
import { HttpTarget, type LongUpload, type Measured } from './http-target.ts'
import type { LoadResult } from './load/plan.ts'
import type { StreamResult } from './load/stream-plan.ts'
import { type Load, type MeasuredServer, withToken } from './measured-server.ts'
import { type Memory, type MemoryPeak, readMemory } from './memory.ts'

export interface ServerOptions {
  readonly data: string
  readonly env: Record<string, string>
  readonly apiToken: string
  readonly peak: MemoryPeak
}

/** The server under test, in its own process. */
export class BenchServer implements MeasuredServer {
  readonly isRemote = false
  /** Authenticated as the administrator. */
  readonly client: Client
  /** From spawn until the process reported that it is ready. */
  readonly readyMs: number
  /** From spawn until the response to a ping. */
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

  /** Throws LoadError for a response with another status than declared (default: 200). */
  load(load: Load): Promise<Measured<LoadResult>> {
    return this.#recordingPeak(() => this.#target.load(withToken(load, this.client.token)))
  }

  /** Sends large bodies concurrently. Throws LoadError for a response with another status. */
  upload(uploads: readonly LongUpload[], status = 200): Promise<Measured<StreamResult>> {
    return this.#recordingPeak(() => this.#target.upload(uploads, status))
  }

  /** Reads large responses concurrently. Throws LoadError. */
  download(
    paths: readonly string[],
    headers?: Readonly<Record<string, string>>,
  ): Promise<Measured<StreamResult>> {
    return this.#recordingPeak(() => this.#target.download(paths, headers))
  }

  /** Runs `work` and measures the server's CPU time and memory meanwhile. */
  meter<Result extends object>(work: () => Promise<Result>): Promise<Measured<Result>> {
    return this.#recordingPeak(() => this.#target.meter(work))
  }

  memory(): Promise<Memory> {
    return readMemory(this.#child.process.pid ?? 0)
  }

  /** Stops the server gracefully after recording its memory peak. Idempotent. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    await this.#recordPeak()
    const code = await this.#child.stop()
    if (code !== 0) throw new Error(`the server ended with ${code} when it was told to stop`)
  }

  /** Measuring a row resets the peak of the process, so it is recorded before and after. */
  async #recordingPeak<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#recordPeak()
    const result = await work()
    await this.#recordPeak()
    return result
  }

  async #recordPeak(): Promise<void> {
    this.#peak.record((await this.memory()).peak)
  }
}
