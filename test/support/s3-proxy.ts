import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What happens to one request. */
export type S3Fault =
  | { readonly kind: 'status'; readonly status: number }
  /** The connection is closed before the request is forwarded. */
  | { readonly kind: 'refused' }
  /** The service carries the request out, and its response is lost. */
  | { readonly kind: 'lost-response' }
  /** The response breaks off in the middle of its body. */
  | { readonly kind: 'cut-response' }
  /** One bit of the body of the response is changed, as if the object had rotted. */
  | { readonly kind: 'wrong-bytes' }
  /** One bit of the body of the response is changed, each time another one. */
  | { readonly kind: 'changing-bytes' }
  /** The response arrives so much later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** There is no response. */
  | { readonly kind: 'silent' }
  /** One bit of the body of the request is changed. */
  | { readonly kind: 'wrong-request' }

type Method = 'GET' | 'HEAD' | 'PUT' | 'DELETE'

/** A proxy in front of an S3 service that fails requests on demand. */
export interface S3Proxy extends AsyncDisposable {
  readonly endpoint: string
  /** Requests that arrived, as `PUT /bucket/key`. */
  readonly requests: string[]
  /** Applies to so many of the following requests with a method. */
  fail(method: Method, fault: S3Fault, times?: number): void
  /** Applies to all requests that match, as in `requests`. */
  failAll(pattern: RegExp, fault: S3Fault): void
  /** Applies to no request any more. */
  recover(): void
  /** Resolves when a request with this method has arrived, and holds it until the result is called. */
  hold(method: Method): Promise<() => void>
}

export async function startS3Proxy(target: string): Promise<S3Proxy> {
  const upstream = new URL(target)
  const requests: string[] = []
  const faults = new Map<string, S3Fault[]>()
  const patterns: { pattern: RegExp; fault: S3Fault }[] = []
  const holds = new Map<string, (release: () => void) => void>()
  // oxlint-disable-next-line typescript/no-misused-promises -- a failure fails the request of the test
  const server = createServer(async (request, response) => {
    const { method = '' } = request
    const line = `${method} ${request.url}`
    requests.push(line)
    const held = holds.get(method)
    if (held !== undefined) {
      holds.delete(method)
      await new Promise<void>(held)
    }
    const general = patterns.find(({ pattern }) => pattern.test(line))
    forward(upstream, request, response, general?.fault ?? faults.get(method)?.shift())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fail: (method, fault, times = 1) => {
      faults.set(method, [...(faults.get(method) ?? []), ...Array.from({ length: times }, () => fault)])
    },
    failAll: (pattern, fault) => void patterns.push({ pattern, fault }),
    recover: () => {
      faults.clear()
      patterns.length = 0
    },
    hold: (method) => new Promise((resolve) => holds.set(method, (release) => resolve(release))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function forward(
  { hostname, port }: URL,
  request: IncomingMessage,
  response: ServerResponse,
  fault: S3Fault | undefined,
): void {
  if (fault?.kind === 'silent') return void request.resume()
  if (fault?.kind === 'refused') return void request.socket.destroy()
  if (fault?.kind === 'status') {
    request.resume()
    request.once('end', () => response.writeHead(fault.status).end())
    return
  }
  const { method, url: path, headers } = request
  const sent = send({ hostname, port, method, path, headers, agent: false }, (received) => {
    // Swift sends a body with some responses to HEAD, which is no valid HTTP.
    if (method === 'HEAD') {
      sent.removeAllListeners('error').on('error', () => {})
      return void response.writeHead(received.statusCode ?? 500, received.headers).end()
    }
    const chunks: Buffer[] = []
    received.on('data', (chunk: Buffer) => chunks.push(chunk))
    received.once('end', () => {
      if (fault?.kind === 'lost-response') return void request.socket.destroy()
      response.writeHead(received.statusCode ?? 500, received.headers)
      const body = Buffer.concat(chunks)
      if (fault?.kind === 'wrong-bytes') flipBit(body, 0)
      if (fault?.kind === 'changing-bytes') flipBit(body, flipped++)
      if (fault?.kind === 'slow') return void setTimeout(() => response.end(body), fault.ms)
      if (fault?.kind !== 'cut-response') return void response.end(body)
      response.write(body.subarray(0, body.length >> 1), () => request.socket.destroy())
    })
  })
  sent.once('error', () => request.socket.destroy())
  const isChanged = fault?.kind === 'wrong-request'
  request.on('data', (chunk: Buffer) => {
    if (isChanged) flipBit(chunk, 0)
    sent.write(chunk)
  })
  request.once('end', () => sent.end())
}

/** Counts the changed responses, so that each differs from the one before. */
let flipped = 0

function flipBit(bytes: Buffer, position: number): void {
  if (bytes.length === 0) return
  const at = position % bytes.length
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
}
