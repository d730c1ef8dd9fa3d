import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  request as send,
} from 'node:http'
import net, { type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** A proxy that sends each request to the next node, so that no two requests of a client reach the same one. */
export interface RoundRobinProxy extends AsyncDisposable {
  readonly url: string
}

export async function startRoundRobinProxy(nodes: readonly string[]): Promise<RoundRobinProxy> {
  const targets = nodes.map((url) => new URL(url))
  let requests = 0
  return startProxy(() => {
    const target = targets[requests++ % targets.length]
    if (target === undefined) throw new Error('The proxy has no nodes.')
    return target
  })
}

/** A proxy that sends each request to the server that `next` returns for it. */
export async function startProxy(next: (request: IncomingMessage) => URL): Promise<RoundRobinProxy> {
  // Requests may take as long as they like: nodes have the time limits.
  const server = createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 60_000 })
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    forward(next(request), request, response),
  )
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    forward(next(request), request, response),
  )
  const tunnels = new Set<Duplex>()
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    tunnels.add(socket)
    socket.once('close', () => tunnels.delete(socket))
    tunnel(next(request), request, socket, head)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      for (const socket of tunnels) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Headers of one connection. Node adds its own. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding'])

function forward({ hostname, port }: URL, request: IncomingMessage, response: ServerResponse): void {
  const { method, url, rawHeaders, headers } = request
  const upstream = send({
    hostname,
    port,
    method,
    path: url,
    agent: false,
    setHost: false,
    headers: endToEnd(rawHeaders, headers['transfer-encoding'] !== undefined),
  })
  upstream.on('continue', () => response.writeContinue())
  upstream.on('response', (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.statusMessage, endToEnd(reply.rawHeaders, false))
    // Without a body yet, such as an event stream.
    response.flushHeaders()
    reply.pipe(response)
    reply.on('error', () => response.destroy())
    reply.on('close', () => {
      if (!reply.complete) response.destroy()
    })
  })
  upstream.on('error', () => {
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  })
  // A node may answer before it has read the whole body. The rest is discarded, so that the connection can carry the next request.
  upstream.on('close', () => {
    request.unpipe(upstream)
    request.resume()
  })
  response.on('close', () => upstream.destroy())
  request.on('error', () => upstream.destroy())
  // Sends the headers at once, because a client may wait for the response before it sends the body.
  upstream.flushHeaders()
  request.pipe(upstream)
}

/** The headers in their order and spelling. `isChunked` keeps the framing of a body without a length. */
function endToEnd(rawHeaders: readonly string[], isChunked: boolean): OutgoingHttpHeaders {
  const headers: Record<string, string[]> = {}
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]]
    if (HOP_BY_HOP.has(name.toLowerCase())) continue
    headers[name] = [...(headers[name] ?? []), value]
  }
  // The length goes first: Node encodes a Content-Disposition before it, and one without it, as UTF-8 once more.
  const isLength = ([name]: readonly [string, unknown]) => (name.toLowerCase() === 'content-length' ? 0 : 1)
  const single = Object.entries(headers)
    .toSorted((a, b) => isLength(a) - isLength(b))
    .map(([name, values]) => [name, values.length === 1 ? values[0] : values])
  return { ...Object.fromEntries(single), ...(isChunked && { 'Transfer-Encoding': 'chunked' }) }
}

/** Passes a request with an upgrade, and everything after it, on unchanged. */
function tunnel({ hostname, port }: URL, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const upstream = net.connect(Number(port), hostname)
  const lines = [`${request.method} ${request.url} HTTP/1.1`]
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`)
  }
  upstream.write(`${lines.join('\r\n')}\r\n\r\n`)
  upstream.write(head)
  socket.pipe(upstream).pipe(socket)
  upstream.on('error', () => socket.destroy())
  upstream.on('close', () => socket.destroy())
  socket.on('error', () => upstream.destroy())
  socket.on('close', () => upstream.destroy())
}
