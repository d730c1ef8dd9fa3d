import type { Address } from './load/address.ts'
import type { LoadPlan, LoadResult } from './load/plan.ts'
import { type RequestShape, requestText } from './load/request-text.ts'
import { runLoad } from './load/run-load.ts'
import { runStreams } from './load/run-streams.ts'
import type { StreamPlan, StreamResult } from './load/stream-plan.ts'
import { type Usage, UsageMeter } from './usage.ts'

/** A load as scenarios describe it; the target adds its address. */
export type Load = Omit<LoadPlan, keyof Address | 'requests' | 'status'> & {
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

/** Turns loads into plans for the address of a server. */
export class HttpPlans {
  readonly #address: Address
  /** Value of the Host header. */
  readonly #host: string

  constructor(url: string) {
    const { hostname, host, port, protocol } = new URL(url)
    const secure = protocol === 'https:'
    // An IPv6 address is in brackets in a URL only.
    const address = hostname.replace(/^\[|\]$/g, '')
    this.#address = { host: address, port: Number(port) || (secure ? 443 : 80), secure }
    this.#host = host
  }

  load({ request, status = 200, ...plan }: Load): LoadPlan {
    const shapes = 'path' in request ? [request] : request
    const requests = shapes.map((shape) => requestText(shape, this.#host))
    return { ...plan, ...this.#address, requests, status }
  }

  upload(uploads: readonly LongUpload[], status: number): StreamPlan {
    const streams = uploads.map(({ method, path, headers = {}, before = '', after = '', body, bytes }) => {
      const length = before.length + bytes + after.length
      const shape = { method, path, headers: { ...headers, 'Content-Length': String(length) } }
      return { head: requestText(shape, this.#host) + before, upload: { body, bytes, tail: after } }
    })
    return { ...this.#address, streams, status }
  }

  download(paths: readonly string[], headers: Readonly<Record<string, string>>): StreamPlan {
    const streams = paths.map((path) => ({ head: requestText({ method: 'GET', path, headers }, this.#host) }))
    return { ...this.#address, streams, status: 200 }
  }
}

/** A server process under load: Carrel, or another one for comparison. */
export class HttpTarget {
  readonly #plans: HttpPlans
  readonly #pid: number

  constructor(url: string, pid: number) {
    this.#plans = new HttpPlans(url)
    this.#pid = pid
  }

  /** Throws LoadError for a response with another status than declared. */
  load(load: Load): Promise<Measured<LoadResult>> {
    return this.#metered((onMeasuring) => runLoad(this.#plans.load(load), onMeasuring))
  }

  /** Sends large bodies concurrently. Throws LoadError. */
  upload(uploads: readonly LongUpload[], status: number): Promise<Measured<StreamResult>> {
    return this.#metered((onMeasuring) => runStreams(this.#plans.upload(uploads, status), onMeasuring))
  }

  /** Reads large responses concurrently. Throws LoadError. */
  download(
    paths: readonly string[],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Measured<StreamResult>> {
    return this.#metered((onMeasuring) => runStreams(this.#plans.download(paths, headers), onMeasuring))
  }

  /** Runs `work` and measures the server's CPU time and memory meanwhile. */
  async meter<Result extends object>(work: () => Promise<Result>): Promise<Measured<Result>> {
    const meter = await UsageMeter.start(this.#pid)
    return { ...(await work()), usage: await meter.read() }
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
}
