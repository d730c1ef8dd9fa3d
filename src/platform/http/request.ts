import type { IncomingHttpHeaders } from 'node:http'
import { Fields } from '../input/index.ts'
import { baseUrlOf, type Site } from './base-url.ts'
import type { BodyClaim, BodyMemory } from './body-memory.ts'
import { addressKey, clientAddress, plainAddress } from './client-address.ts'
import type { IncomingRequest, ResponseWriter } from './transport.ts'

/** A request as handlers see it. Expensive properties are computed on first use. */
export class HttpRequest {
  readonly id: string
  readonly method: string
  /** Path and query as sent. */
  readonly url: string
  /** The fields of the body. Empty on GET and on routes with a raw body. */
  bodyFields: Fields = Fields.none
  readonly #site: Site
  readonly #incoming: IncomingRequest
  readonly #response: ResponseWriter
  readonly #bodyMemory: BodyMemory
  #bodyClaim: BodyClaim | undefined
  #account: string | undefined
  #address: string | undefined
  #baseUrl: string | undefined
  #queryFields: Fields | undefined
  #signal: AbortSignal | undefined

  constructor(
    id: string,
    incoming: IncomingRequest,
    response: ResponseWriter,
    site: Site,
    bodyMemory: BodyMemory,
  ) {
    this.id = id
    this.method = incoming.head.method
    this.url = incoming.head.url
    this.#incoming = incoming
    this.#response = response
    this.#site = site
    this.#bodyMemory = bodyMemory
  }

  /** Reserves memory for a buffered body. */
  get bodyClaim(): BodyClaim {
    if (this.#bodyClaim === undefined) {
      this.#bodyClaim = this.#bodyMemory.claim(this.address)
      if (this.#account !== undefined) this.#bodyClaim.chargeTo(this.#account)
    }
    return this.#bodyClaim
  }

  /** Also charges the memory of the body to an account. Call it before the body is read. */
  chargeTo(account: string): void {
    this.#account = account
    this.#bodyClaim?.chargeTo(account)
  }

  /** Releases the memory of the body after its last use. */
  releaseBody(): void {
    if (this.#bodyClaim === undefined) return
    this.bodyFields = Fields.none
    this.#bodyClaim.release()
  }

  /** Names are in lower case. */
  get headers(): IncomingHttpHeaders {
    return this.#incoming.head.headers.all
  }

  /**
   * First value of one header, by its name in lower case. Cheaper than `headers`, which builds an object of
   * all of them.
   */
  header(name: string): string | undefined {
    return this.#incoming.head.headers.one(name)
  }

  /** The client's address, as seen through trusted proxies. */
  get address(): string {
    this.#address ??= this.#findAddress()
    return this.#address
  }

  /** The key for rate limits: the client's address, or the IPv6 network of one subscriber. */
  get network(): string {
    return addressKey(this.address)
  }

  /** Builds an object of all headers only behind a trusted proxy. */
  #findAddress(): string {
    const peer = plainAddress(this.peer ?? '')
    const { trust } = this.#site
    return trust(peer) ? clientAddress(peer, this.headers['x-forwarded-for'], trust) : peer
  }

  /** The remote address of the connection, which may be a proxy. */
  get peer(): string | undefined {
    return this.#incoming.socket.remoteAddress
  }

  /** Scheme and host for links to this server, without a trailing slash. */
  get baseUrl(): string {
    this.#baseUrl ??= baseUrlOf(this.#incoming, this.#site)
    return this.#baseUrl
  }

  get queryFields(): Fields {
    const mark = this.url.indexOf('?')
    this.#queryFields ??= mark === -1 ? Fields.none : Fields.fromQuery(this.url.slice(mark + 1))
    return this.#queryFields
  }

  /** Whether the client left before it got its whole response. */
  get isAbandoned(): boolean {
    return this.#response.isAbandoned
  }

  /** Aborted when the client leaves before it got its whole response. */
  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#response)
    return this.#signal
  }
}

function signalOf(response: ResponseWriter): AbortSignal {
  const controller = new AbortController()
  const abort = () => {
    if (response.isAbandoned) controller.abort(new ClientDisconnected())
  }
  if (response.isClosed) abort()
  else response.onClose(abort)
  return controller.signal
}

/** The client closed the connection before it sent its whole body, or before it got its whole response. */
export class ClientDisconnected extends Error {
  override name = 'ClientDisconnected'
  constructor() {
    super('The client closed the connection before the response was complete')
  }
}

/**
 * Whether a page of another site made the browser send this request, by a link, a form or a script. Browsers say so in `Sec-Fetch-Site`, which pages
 * cannot set. Programs, and addresses that a program or a person opens in a browser, have no such site.
 */
export function isFromElsewhere({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  return site === 'cross-site' || site === 'same-site'
}
