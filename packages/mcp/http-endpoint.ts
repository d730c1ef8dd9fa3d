import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  createMcpHandler,
  localhostAllowedHostnames,
  type McpHttpHandler,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { CarrelError } from '../../sdk/src/index.ts'
import { ClientError, EXIT, note } from '../client/index.ts'
import { createMcpServer, type ToolOptions } from './create-server.ts'
import type { TokenCheck } from './token-check.ts'

const PATH = '/mcp'
const MAX_CONNECTIONS = 100

/** The largest content of `write_file` in JSON, where a character takes up to 6 bytes. */
const MAX_BODY_BYTES = 8_000_000

interface EndpointOptions extends ToolOptions {
  /** The server whose API is called. */
  readonly url: string
  readonly host: string
  readonly port: number
  /** Further names under which the endpoint is reached, such as that of a proxy. */
  readonly allowedHosts: readonly string[]
  readonly tokens: TokenCheck
}

/**
 * The streamable HTTP transport. Each request has a token of its own, with which its tools call the API, so the endpoint stores no credential and no session.
 * Requests of web pages are refused: `Host` and `Origin` must name this endpoint (DNS rebinding).
 */
export class HttpEndpoint implements AsyncDisposable {
  readonly #options: EndpointOptions
  readonly #handler: McpHttpHandler
  readonly #server: Server
  readonly #hosts: string[]

  private constructor(options: EndpointOptions) {
    this.#options = options
    this.#hosts = [...localhostAllowedHostnames(), inUrl(options.host), ...options.allowedHosts]
    this.#handler = createMcpHandler(
      ({ authInfo }) => {
        if (authInfo === undefined) throw new Error('a request was not checked')
        return createMcpServer({ url: options.url, token: authInfo.token }, options)
      },
      { maxRequestBodySize: MAX_BODY_BYTES },
    )
    this.#server = createServer((request, response) => void this.#answer(request, response))
    this.#server.maxConnections = MAX_CONNECTIONS
  }

  static async listen(options: EndpointOptions): Promise<HttpEndpoint> {
    const endpoint = new HttpEndpoint(options)
    endpoint.#server.listen(options.port, options.host)
    try {
      await once(endpoint.#server, 'listening')
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      throw new ClientError(
        `Cannot listen on ${options.host}:${options.port}: ${code ?? message}.`,
        EXIT.failed,
        {
          cause: error,
        },
      )
    }
    return endpoint
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://${inUrl(this.#options.host)}:${port}${PATH}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    await this.#handler.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const aborted = new AbortController()
    response.once('close', () => aborted.abort())
    try {
      const refusal = this.#refusalOf(request)
      if (refusal !== undefined) return refuse(response, ...refusal)
      const token = bearerIn(request.headers.authorization)
      if (token === undefined) {
        return refuse(response, 401, 'Send a personal token as "Authorization: Bearer TOKEN".')
      }
      await this.#options.tokens.check({ token }, aborted.signal)
      const authInfo = { token, clientId: '', scopes: [] }
      await send(await this.#handler.fetch(toWebRequest(request, aborted.signal), { authInfo }), response)
    } catch (error) {
      if (aborted.signal.aborted) return
      if (response.headersSent) response.destroy()
      else refuse(response, ...failureOf(error))
    }
  }

  /** Checks before authentication: host, origin, path and body size. Undefined if the request passes. */
  #refusalOf({ headers, url }: IncomingMessage): [status: number, message: string] | undefined {
    if (!validateHostHeader(headers.host, this.#hosts).ok) return [403, 'This Host is not allowed.']
    if (!validateOriginHeader(headers.origin, this.#hosts).ok) return [403, 'This Origin is not allowed.']
    if (url?.split('?')[0] !== PATH) return [404, `The endpoint is ${PATH}.`]
    // A body that is only found to be too large while it is read ends the connection instead.
    return Number(headers['content-length']) > MAX_BODY_BYTES ? [413, 'The request is too large.'] : undefined
  }
}

/** A host as URLs and `Host` have it. */
const inUrl = (host: string) => (isIPv6(host) ? `[${host}]` : host)

/** Tokens of the API have 40 hexadecimal digits. Others need no request to be refused. */
function bearerIn(header: string | undefined): string | undefined {
  return /^Bearer +([0-9a-f]{40})$/i.exec(header ?? '')?.[1]
}

function failureOf(error: unknown): [status: number, message: string] {
  if (error instanceof ClientError) return [403, error.message]
  if (error instanceof CarrelError) {
    if (error.kind === 'unauthorized') return [401, 'The token is not valid.']
    if (error.kind === 'forbidden') return [403, 'The token cannot read.']
    return [502, 'The server cannot be reached.']
  }
  note(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return [500, 'Internal error.']
}

/** Without CORS headers, so that no page can read a response. */
function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
  })
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } }))
}

function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headers } = request
  const sent = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name === 'authorization' ? [] : [[name, String(value)]],
  )
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(`http://localhost${PATH}`, {
    method,
    headers: sent,
    signal,
    ...(hasBody && { body: Readable.toWeb(request), duplex: 'half' }),
  })
}

async function send(reply: Response, response: ServerResponse): Promise<void> {
  response.writeHead(reply.status, Object.fromEntries(reply.headers))
  if (reply.body === null) response.end()
  else await pipeline(Readable.fromWeb(reply.body), response)
}
