import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe } from 'node:test'
import { pino } from 'pino'
import type { FaultTable } from '../../src/base/errors.ts'
import type { AuthResult } from '../../src/platform/http/credentials.ts'
import { createMetrics, type HttpMetrics } from '../../src/platform/http/metrics.ts'
import { type FaultResponse, type Route, routesFor } from '../../src/platform/http/route.ts'
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
  type TransportSetting,
} from '../../src/platform/http/server.ts'

export interface TestUser {
  readonly email: string
}
export interface TestServices {
  readonly greeting: string
}

export const route = routesFor<TestUser, TestServices>()

/** A running server for one test, with its log and metrics. */
export interface TestServer extends AsyncDisposable {
  readonly server: HttpServer
  readonly port: number
  readonly url: string
  readonly logged: Record<string, unknown>[]
  readonly metrics: HttpMetrics
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
  /** Sends bytes and returns everything received until the server closes the connection. */
  send(bytes: string | Buffer): Promise<string>
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

type Routes = readonly Route<TestUser, TestServices>[]

/** Starts a server for one test. */
export type Serve = typeof serve
/** Which of the two transports a suite runs over. */
export type TransportKind = TransportSetting['kind']

/** Defines a suite for each transport. Both must behave alike; a suite names its deliberate exceptions. */
export function describeTransports(
  name: string,
  define: (serve: Serve, transport: TransportKind) => void,
): void {
  for (const kind of ['fast', 'node'] as const) {
    describe(`${name} (${kind} transport)`, () => {
      define((routes, overrides) => serve(routes, { transport: { kind }, ...overrides }), kind)
    })
  }
}

/**
 * Serves `routes` on a free port. Tokens are `ann`, `root` (an administrator) and some without an account.
 */
export async function serve(
  routes: Routes,
  overrides: Partial<HttpServerOptions<TestUser, TestServices>> = {},
): Promise<TestServer> {
  const logged: Record<string, unknown>[] = []
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged.push(JSON.parse(chunk.toString()) as Record<string, unknown>)
      done()
    },
  })
  const metrics = createMetrics()
  const server = createHttpServer<TestUser, TestServices>({
    surfaces: [{ routes, faults: testFaults }],
    services: { greeting: 'hello' },
    authenticate: (apiToken) => accounts[apiToken] ?? { kind: 'unknown' },
    isAdmin: (user) => user.email === 'root@example.org',
    userKey: (user) => user.email,
    rateLimit: { enabled: false, now: () => 0 },
    logger: pino({ level: 'debug' }, sink),
    metrics,
    ready: () => Promise.resolve({ ok: true, checks: { database: 'ok' } }),
    ...overrides,
  })
  const { port, url } = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    server,
    port,
    url,
    logged,
    metrics,
    call: (method, path, options) => call(port, method, path, options),
    send: (bytes) => sendBytes(port, bytes),
    [Symbol.asyncDispose]: () => server.close({ waitMs: 0 }),
  }
}

const accounts: Partial<Record<string, AuthResult<TestUser>>> = {
  ann: { kind: 'user', user: { email: 'ann@example.org' } },
  ben: { kind: 'user', user: { email: 'ben@example.org' } },
  root: { kind: 'user', user: { email: 'root@example.org' } },
  deleted: { kind: 'deleted' },
  inactive: { kind: 'inactive' },
  wiped: { kind: 'wiped' },
}

export const asAnn = { authorization: 'Token ann' }

/** Messages for the faults that tests throw. Others are answered with their code. */
export const testFaults = new Proxy({} as FaultTable<FaultResponse>, {
  get: (_, code): unknown => {
    if (code === 'library-not-found') return ({ id }: { id: string }) => [404, `Library ${id} not found.`]
    return () => [400, String(code)]
  },
})

async function call(port: number, method: string, path: string, options: CallOptions = {}): Promise<Reply> {
  const { headers = {}, body } = options
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const sent = request({ port, method, path, agent: false, headers: { ...length, ...headers } })
  sent.end(body)
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: reply.statusCode ?? 0, headers: reply.headers, text: await text(reply) }
}

async function sendBytes(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  return text(socket)
}
