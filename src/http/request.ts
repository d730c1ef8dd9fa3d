import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { baseUrlOf, type Site } from './base-url.ts'
import { clientAddress } from './client-address.ts'
import { Fields } from './fields.ts'
import { oneHeader } from './one-header.ts'

/** A request as handlers see it. What costs something is worked out when first asked for. */
export class HttpRequest {
  readonly id: string
  readonly method: string
  /** Path and query as sent. */
  readonly url: string
  /** The fields of the body; none on GET and on routes that take it raw. */
  bodyFields: Fields = Fields.none
  readonly #site: Site
  readonly #incoming: IncomingMessage
  readonly #response: ServerResponse
  #address: string | undefined
  #baseUrl: string | undefined
  #queryFields: Fields | undefined
  #signal: AbortSignal | undefined

  constructor(id: string, incoming: IncomingMessage, response: ServerResponse, site: Site) {
    this.id = id
    this.method = incoming.method ?? ''
    this.url = incoming.url ?? ''
    this.#incoming = incoming
    this.#response = response
    this.#site = site
  }

  /** Names in lower case. */
  get headers(): IncomingHttpHeaders {
    return this.#incoming.headers
  }

  /** The first header of a name in lower case; it takes little where nobody asks for all. */
  header(name: string): string | undefined {
    return oneHeader(this.#incoming, name)
  }

  /** The client's address, seen through the proxies we trust. */
  get address(): string {
    this.#address ??= clientAddress(this.peer, this.headers['x-forwarded-for'], this.#site.trust)
    return this.#address
  }

  /** The other end of the connection, which may be a proxy. */
  get peer(): string | undefined {
    return this.#incoming.socket.remoteAddress
  }

  /** Scheme and host that links to us begin with, without a slash at the end. */
  get baseUrl(): string {
    this.#baseUrl ??= baseUrlOf(this.#incoming.socket, this.headers, this.#site)
    return this.#baseUrl
  }

  get queryFields(): Fields {
    const mark = this.url.indexOf('?')
    this.#queryFields ??= mark === -1 ? Fields.none : Fields.fromQuery(this.url.slice(mark + 1))
    return this.#queryFields
  }

  /** Whether the client is gone without its answer. */
  get isAbandoned(): boolean {
    return (this.#response.closed || this.#response.destroyed) && !this.#response.writableFinished
  }

  /** Aborted when the client goes away before it has its answer. */
  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#response)
    return this.#signal
  }
}

function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const abort = () => {
    if (!response.writableFinished) controller.abort(new ClientGone())
  }
  if (response.closed || response.destroyed) abort()
  else response.once('close', abort)
  return controller.signal
}

/** Why a request's signal was aborted. */
export class ClientGone extends Error {
  override name = 'ClientGone'
  constructor() {
    super('The client closed the connection before it had its answer')
  }
}
