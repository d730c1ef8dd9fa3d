import type { LoadPlan, LoadResult } from './load/plan.ts'
import { type RequestShape, requestText } from './load/request-text.ts'
import { runLoad } from './load/run-load.ts'
import { runStreams } from './load/run-streams.ts'
import type { Stream, StreamResult } from './load/stream-plan.ts'
import { type Usage, UsageMeter } from './usage.ts'

/** A load as scenarios describe it; the target adds its address. */
export type Load = Omit<LoadPlan, 'host' | 'port' | 'requests' | 'status'> & {
  readonly request: RequestShape | readonly RequestShape[]
  /** Default: 200. */
  readonly status?: number
}

/** An upload of a large body. `before` and `after` are sent around its bytes. */
export interface LongUpload {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly before?: string
  readonly after?: string
  /** Number of the body; see LongBodies. */
  readonly body: number
  readonly bytes: number
}

/** The result of a load or of streams, with the CPU time and memory of the server. */
export type Measured<Result> = Result & { readonly usage: Usage }

/** A server process under load: Carrel, or another one for comparison. */
export class HttpTarget {
  readonly #host: string
  readonly #port: number
  readonly #pid: number

  constructor(url: string, pid: number) {
    const { hostname, port } = new URL(url)
    this.#host = hostname
    this.#port = Number(port)
    this.#pid = pid
  }

  /** Throws LoadError for a response with another status than declared. */
  load({ request, status = 200, ...plan }: Load): Promise<Measured<LoadResult>> {
    const shapes = 'path' in request ? [request] : request
    const requests = shapes.map((shape) => requestText(shape, this.#name))
    const whole: LoadPlan = { ...plan, host: this.#host, port: this.#port, requests, status }
    return this.#metered((onMeasuring) => runLoad(whole, onMeasuring))
  }

  /** Sends large bodies concurrently. Throws LoadError. */
  upload(uploads: readonly LongUpload[], status: number): Promise<Measured<StreamResult>> {
    return this.#stream(
      uploads.map(({ method, path, headers = {}, before = '', after = '', body, bytes }) => {
        const length = before.length + bytes + after.length
        const shape = { method, path, headers: { ...headers, 'Content-Length': String(length) } }
        return { head: requestText(shape, this.#name) + before, upload: { body, bytes, tail: after } }
      }),
      status,
    )
  }

  /** Reads large responses concurrently. Throws LoadError. */
  download(
    paths: readonly string[],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Measured<StreamResult>> {
    return this.#stream(
      paths.map((path) => ({ head: requestText({ method: 'GET', path, headers }, this.#name) })),
      200,
    )
  }

  /** Runs `work` and measures the server's CPU time and memory meanwhile. */
  async meter<Result extends object>(work: () => Promise<Result>): Promise<Measured<Result>> {
    const meter = await UsageMeter.start(this.#pid)
    return { ...(await work()), usage: await meter.read() }
  }

  #stream(streams: readonly Stream[], status: number): Promise<Measured<StreamResult>> {
    const plan = { host: this.#host, port: this.#port, streams, status }
    return this.#metered((onMeasuring) => runStreams(plan, onMeasuring))
  }

  /** Measures from the call of `onMeasuring`, so that the warm-up is excluded. */
  async #metered<Result extends object>(
    work: (onMeasuring: () => void) => Promise<Result>,
  ): Promise<Measured<Result>> {
    let meter: Promise<UsageMeter> | undefined
    const result = await work(() => {
      meter = UsageMeter.start(this.#pid)
      meter.catch(() => {}) // Awaited below.
    })
    if (meter === undefined) throw new Error('nothing was measured')
    return { ...result, usage: await (await meter).read() }
  }

  get #name(): string {
    return `${this.#host}:${this.#port}`
  }
}
