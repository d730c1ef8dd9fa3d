import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { FastTransport } from '../../src/platform/http/fast/fast-transport.ts'
import { NodeTransport } from '../../src/platform/http/node/node-transport.ts'
import { PipelineQueue } from '../../src/platform/http/pipeline-queue.ts'
import { ReceiveMemory } from '../../src/platform/http/receive-memory.ts'
import type {
  IncomingRequest,
  RequestHandler,
  ResponseWriter,
  Transport,
  TransportOptions,
} from '../../src/platform/http/transport.ts'
import { type Chance, fuzz } from './fuzz.ts'

// Differential fuzzing: both transports get the same bytes and must see the same requests. Another view of where a
// request ends would let a client smuggle requests past a proxy in front of us. Our parser may reject a request that
// Node's accepts, for the reasons below. The other way round, Node closes a connection in one case.
const FAST_REJECTS: readonly [reason: string, pattern: RegExp][] = [
  ['line breaks before a request other than one CRLF', /(?<!\r)\n|\r(?!\n)|^\r\n\r\n|\r\n\r\n\r\n/],
  [
    'the same, after a body that a mutation made longer than its length',
    /content-length:[^]*\r\n\r\n[^]*\n[A-Z]+ /i,
  ],
  ['a chunk extension with an empty value', /;[^\r\n]*=[\r;]/],
  ['a Host field among the trailers', /0\r\n(?:[^\r\n]+\r\n)*host:/i],
  ['a chunk size of more than 12 digits', /[\da-f]{13}/i],
  ['a tab in Transfer-Encoding', /transfer-encoding:[^\r\n]*\t/i],
  ['several spaces in the request line', /(?:^|\n)[A-Z]+ {2}| {2}HTTP\//],
]

/** Node reads nothing after a body that came with an upgrade. */
const NODE_CLOSES = /upgrade:/i

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server that is silent for this long waits for more input. */
const QUIET_MS = 40

const LAST = '/last-request'
const last = Buffer.from(`GET ${LAST} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)

let connections = 0
/** A loopback address no other connection has: a port could be that of an earlier connection still being served. */
function ownAddress(): string {
  connections += 1
  return `127.${1 + (connections >> 16)}.${(connections >> 8) & 255}.${connections & 255}`
}

/** One transport, and the requests it served by the address of their client. */
class Side {
  readonly transport: Transport
  readonly #seen = new Map<string, Seen[]>()
  #port = 0

  constructor(create: (options: TransportOptions) => Transport) {
    const handler: RequestHandler = {
      serve: (request, response) => void this.#serve(request, response),
      // Bytes after an accepted upgrade would be lost for the comparison.
      acceptsUpgrade: () => false,
      upgrade: () => assert.fail('no upgrade is accepted'),
    }
    this.transport = create({
      keepAliveMs: 5000,
      idleMs: 5000,
      headersMs: 5000,
      leastRate: 0,
      rateWindowMs: 5000,
      checkMs: 5000,
      lingerMs: 1000,
      limits: { connections: 1000, connectionsPerAddress: 1000, refusals: 100, isExempt: () => true },
      memory: new ReceiveMemory(),
      pipeline: new PipelineQueue(),
      handler,
      isClosing: () => false,
      onError: (error) => assert.ifError(error),
    })
  }

  async listen(): Promise<void> {
    this.#port = (await this.transport.listen({ host: '127.0.0.1', port: 0 })).port
  }

  async close(): Promise<void> {
    const closed = this.transport.close()
    this.transport.closeAll()
    await closed
  }

  async #serve({ head, body, socket }: IncomingRequest, response: ResponseWriter): Promise<void> {
    const { remoteAddress: client = '' } = socket as { remoteAddress?: string }
    const entry = { method: head.method, url: head.url, headers: { ...head.headers.all } }
    const pieces: Buffer[] = []
    try {
      for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
        pieces.push(Buffer.from(piece))
      }
    } catch {
      response.destroy() // The body was cut off or invalid.
      return
    }
    const text = Buffer.concat(pieces).toString('latin1')
    this.#seen.set(client, [...(this.#seen.get(client) ?? []), { ...entry, body: text }])
    response.send(200, [], 'ok')
  }

  /** Sends bytes. Resolves with the observed requests once the server closed the connection or became silent. */
  async send(bytes: Buffer, quietMs: number): Promise<Seen[]> {
    const own = ownAddress()
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress: own })
    socket.on('error', () => {})
    await once(socket, 'connect')
    const done = new Promise<void>((resolve) => {
      const isLast = () => this.#seen.get(own)?.at(-1)?.url === LAST
      let quiet: NodeJS.Timeout
      const wait = () => {
        clearTimeout(quiet)
        // A server that waits for the rest of a request is silent: not every mutation has an end.
        quiet = setTimeout(resolve, isLast() ? 0 : quietMs)
      }
      socket.on('data', wait).once('close', () => {
        clearTimeout(quiet)
        resolve()
      })
      wait()
    })
    socket.write(bytes)
    await done
    socket.destroy()
    const heard = this.#seen.get(own) ?? []
    this.#seen.delete(own)
    return heard
  }
}

const NAMES = [
  'X-A',
  'Cookie',
  'Accept',
  'content-type',
  'Set-Cookie',
  'Host',
  'Connection',
  'Expect',
  '__proto__',
]
const TOKENS = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  ' ',
  '\t',
  '\0',
  ':',
  ';',
  '"',
  ',',
  '0\r\n\r\n',
  '1\r\na\r\n',
  '5;a="b"\r\n',
  'Content-Length: 3\r\n',
  'Content-Length: 0\r\n',
  'content-length : 3\r\n',
  'Content-Length: +3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding: chunked, identity\r\n',
  'Transfer-Encoding:\x0bchunked\r\n',
  'transfer-encoding: xchunked\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Connection: close\r\n',
  'Connection: Upgrade\r\nUpgrade: x\r\n',
  'Expect: 100-continue\r\n',
  'Host: b\r\n',
  ' HTTP/1.0',
  ' HTTP/1.1',
  'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST /',
  '\xff',
  'Trailer: x\r\n',
]

function request(chance: Chance): Buffer {
  const method = chance.one(['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'CONNECT', 'PRI'])
  const target = chance.one(['/', '/a?b=c', '/%41', 'http://a/b', '*', '/a b', '//', '/\x7f'])
  const version = chance.one(['1.1', '1.1', '1.1', '1.1', '1.0', '2.0'])
  const lines = [`${method} ${target} HTTP/${version}`]
  if (chance.is(0.95)) lines.push(`Host: ${chance.one(['a', 'a:80', '[::1]', '', 'a b'])}`)
  for (const name of chance.many(3, () => chance.one(NAMES.slice(0, 5)))) {
    lines.push(`${name}:${chance.one(['', ' ', ' x', ' x \t', ' a, b', ' caf\xe9'])}`)
  }
  const body = chance.bytes(chance.one([0, 5, 40]))
  const how = chance.below(3)
  if (how === 1) lines.push(`Content-Length: ${body.length}`)
  if (how === 2) lines.push(`Transfer-Encoding: ${chance.one(['chunked', 'Chunked', 'chunked '])}`)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  if (how === 0) return head
  return Buffer.concat([head, how === 1 ? body : chunksOf(chance, body)])
}

function chunksOf(chance: Chance, body: Buffer): Buffer {
  const parts = chance.pieces(body).flatMap((piece) => {
    const extension = chance.is(0.2) ? chance.one([';a', ';a=b', ';a="b c"', ' ;a', ';', ';a="']) : ''
    const size = piece.length.toString(16).padStart(chance.is(0.1) ? 4 : 1, '0')
    return [Buffer.from(`${size}${extension}\r\n`), piece, Buffer.from('\r\n')]
  })
  const trailers = chance.is(0.2) ? chance.one(['X: y\r\n', 'X\r\n', ': y\r\n', 'X: y\r\n z\r\n']) : ''
  return Buffer.concat([...parts, Buffer.from(`0\r\n${trailers}\r\n`)])
}

describe('both transports', () => {
  const fast = new Side((options) => new FastTransport(options))
  const node = new Side((options) => new NodeTransport(options, undefined))
  before(() => Promise.all([fast.listen(), node.listen()]))
  after(() => Promise.all([fast.close(), node.close()]))

  const compare = async (bytes: Buffer, quietMs: number) => {
    const [byFast, byNode] = await Promise.all([fast.send(bytes, quietMs), node.send(bytes, quietMs)])
    const text = bytes.toString('latin1')
    const shown = JSON.stringify(text)
    if (byFast.length > byNode.length && NODE_CLOSES.test(text)) byFast.length = byNode.length
    for (const [at, seen] of byFast.entries()) {
      const { headers, ...rest } = seen
      const { headers: nodeHeaders = {}, ...others } = byNode[at] ?? {}
      assert.deepEqual(rest, others, `${shown} is a different request to Node`)
      assert.deepEqual({ ...headers }, { ...nodeHeaders }, `${shown} has different headers to Node`)
    }
    if (byFast.length < byNode.length && FAST_REJECTS.some(([, pattern]) => pattern.test(text))) return
    assert.equal(byFast.length, byNode.length, `${shown} is not accepted by both`)
  }

  const compareAll = (batch: readonly Buffer[]) =>
    Promise.all(
      batch.map(async (bytes) => {
        try {
          await compare(bytes, QUIET_MS)
        } catch {
          // A busy machine may take longer to respond. A real difference stays.
          await compare(bytes, 50 * QUIET_MS)
        }
      }),
    )

  it('see the same requests in mutated input', async (t) => {
    await fuzz(t, (chance) => {
      // Several at a time: most of a case is waiting.
      const batch = Array.from({ length: 16 }, () => {
        const requests = Buffer.concat([request(chance), ...chance.many(2, () => request(chance))])
        return Buffer.concat([chance.mutate(requests, TOKENS), last])
      })
      return compareAll(batch)
    })
  })

  it('accept and reject the same unmutated requests', async (t) => {
    await fuzz(t, (chance) => {
      const batch = Array.from({ length: 16 }, () => {
        return Buffer.concat([request(chance), ...chance.many(2, () => request(chance)), last])
      })
      return compareAll(batch)
    })
  })
})
