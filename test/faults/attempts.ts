import { AssertionError } from 'node:assert'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from '../support/client.ts'

/** A client gives up a request after this time, as a proxy in front of the nodes would. */
const REQUEST_MS = 40_000
const MAX_ATTEMPTS = 8
const RETRY_AFTER_MS = 300

/** An operation that was not acknowledged. Whether it was carried out is unknown. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

/** What happened to the operations of a load. */
export class Counts {
  operations = 0
  acknowledged = 0
  /** Requests that were repeated at the next node. */
  retried = 0
  /** Operations that were given up. */
  errors = 0
  /** Responses that a fault does not excuse, and whatever else must not happen. */
  readonly violations: string[] = []
  /** The last lines that the nodes have logged, if there are violations. */
  readonly context: string[] = []
  /** Acknowledged and given up operations of each kind. */
  readonly kinds = new Map<string, { acknowledged: number; errors: number }>()

  add(kind: string, outcome: 'acknowledged' | 'errors'): void {
    this[outcome] += 1
    const found = this.kinds.get(kind) ?? { acknowledged: 0, errors: 0 }
    found[outcome] += 1
    this.kinds.set(kind, found)
  }
}

/** Sends requests to the entrances of a cluster in turn. */
export class Attempts {
  readonly #clients: readonly Client[]
  readonly #counts: Counts
  readonly #signal: AbortSignal
  #requests: number

  constructor(
    urls: readonly string[],
    { token, email }: Client,
    counts: Counts,
    signal: AbortSignal,
    first = 0,
  ) {
    this.#clients = urls.map((url) => new Client(url, token, email))
    this.#counts = counts
    this.#signal = signal
    this.#requests = first
  }

  /** The load is over: nothing that takes long is waited for any more. */
  get isStopped(): boolean {
    return this.#signal.aborted
  }

  /** Sends a request to the next node. Throws GivenUp if it is not acknowledged, any other error for a wrong response. */
  async once<T>(send: (client: Client) => Promise<T>): Promise<T> {
    for (let refused = 0; ; refused += 1) {
      const client = this.#clients[this.#requests++ % this.#clients.length]
      if (client === undefined) throw new Error('There are no entrances.')
      try {
        return await send(client)
      } catch (error) {
        if (!isExcused(error)) throw error
        // Nothing was sent, so any proxy would ask the next node.
        const isRefused = codeOf(error) === 'ECONNREFUSED' && refused < this.#clients.length - 1
        if (!isRefused)
          throw new GivenUp(error instanceof Error ? error.message : String(error), { cause: error })
        this.#counts.retried += 1
      }
    }
  }

  /** The same, with repetitions. For requests that may be carried out twice. */
  async repeatedly<T>(send: (client: Client) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.once(send)
      } catch (error) {
        if (!(error instanceof GivenUp) || attempt === MAX_ATTEMPTS || this.#signal.aborted) throw error
      }
      this.#counts.retried += 1
      await delay(RETRY_AFTER_MS * attempt)
    }
  }
}

/** A fault explains a 503, and a connection that broke or is silent. */
function isExcused(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AssertionError)
    return error.actual === 503 || error.actual === 502 || error.actual === 504
  return error.name === 'TimeoutError' || error.name === 'AbortError' || error instanceof TypeError
}

/** The error code of a connection that fetch could not use. */
function codeOf(error: unknown): unknown {
  if (!(error instanceof Error) || !(error.cause instanceof Error)) return undefined
  return 'code' in error.cause ? error.cause.code : undefined
}

/** Limits all requests of this process that have no limit of their own. Nodes that are stopped never answer. */
export function limitRequests(): Disposable {
  const unlimited = globalThis.fetch
  globalThis.fetch = (input, init) => unlimited(input, { signal: AbortSignal.timeout(REQUEST_MS), ...init })
  return {
    [Symbol.dispose]() {
      globalThis.fetch = unlimited
    },
  }
}
