import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Server } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { Incoming } from '../../src/http/fast/connection.ts'
import { FastTransport } from '../../src/http/fast/fast-transport.ts'
import { PipelineQueue } from '../../src/http/fast/pipeline-queue.ts'
import type { Outgoing } from '../../src/http/fast/socket-response.ts'
import { ReceiveMemory } from '../../src/http/receive-memory.ts'
import { type Chance, fuzz } from './fuzz.ts'

// Whatever our parser takes for a request, Node's takes for the same one: another reading of where a request ends would
// let a client smuggle requests past a proxy in front of us. Ours may refuse more. It does refuse, among others: a line
// feed alone, several empty lines before a request, repeated or listed lengths, any transfer coding but chunked, chunks
// in HTTP/1.0, unknown characters in a target or a Host, framing fields among trailers, CONNECT.

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** By the port of the client. */
const seenByOurs = new Map<number, Seen[]>()
const seenByNode = new Map<number, Seen[]>()

/** A server that says nothing for so long waits for more. */
const QUIET_MS = 40

const LAST = '/last-request'
const last = Buffer.from(`GET ${LAST} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)

async function serveByOurs(incoming: Incoming, outgoing: Outgoing): Promise<void> {
  const { head, body, socket } = incoming
  const port = socket.remotePort ?? 0
  const entry = { method: head.method, url: head.url, headers: { ...head.headers.all } }
  const pieces: Buffer[] = []
  try {
    for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
      pieces.push(Buffer.from(piece))
    }
  } catch {
    return // The connection was cut off before the end of the body.
  }
  seenByOurs.set(port, [
    ...(seenByOurs.get(port) ?? []),
    { ...entry, body: Buffer.concat(pieces).toString('latin1') },
  ])
  outgoing.send(200, [], 'ok')
}

const ours = new FastTransport(
  {
    keepAliveMs: 5000,
    idleMs: 5000,
    headersMs: 5000,
    leastRate: 0,
    rateWindowMs: 5000,
    memory: new ReceiveMemory(),
    pipeline: new PipelineQueue(),
    isClosing: () => false,
    serve: (incoming, outgoing) => void serveByOurs(incoming, outgoing),
    upgrade: () => false,
    onError: (error) => assert.ifError(error),
  },
  { connections: 1000, connectionsPerAddress: 1000, refusals: 100, isExempt: () => true },
  5000,
)

async function finish(request: IncomingMessage, response: ServerResponse, entry: { body: string }) {
  try {
    entry.body = (await buffer(request)).toString('latin1')
    response.end('ok')
  } catch {
    // The connection was cut off before the end of the body.
  }
}

// As ours does here, it ignores requests for another protocol; what follows them would otherwise be lost.
const nodeOptions = { keepAliveTimeout: 5000, shouldUpgradeCallback: () => false }
const node = createServer(nodeOptions, (request, response) => {
  const port = request.socket.remotePort ?? 0
  const { method = '', url = '', headers } = request
  // In the order of the requests: Node has several of one connection under way at a time.
  const entry = { method, url, headers, body: 'cut off' }
  seenByNode.set(port, [...(seenByNode.get(port) ?? []), entry])
  void finish(request, response, entry)
})

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Sends bytes, and gives what the server made of them once it hung up or has nothing more to say. */
async function tell(
  port: number,
  bytes: Buffer,
  seen: Map<number, Seen[]>,
  quietMs: number,
): Promise<Seen[]> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  const own = socket.localPort ?? 0
  seen.delete(own) // An earlier client may have had this port.
  const done = new Promise<void>((resolve) => {
    const isLast = () => seen.get(own)?.at(-1)?.url === LAST
    let quiet: NodeJS.Timeout
    const wait = () => {
      clearTimeout(quiet)
      // A server that waits for the rest of a request says nothing: not everything that is sent has an end.
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
  const heard = seen.get(own) ?? []
  seen.delete(own)
  return heard
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

describe('requests of any kind', () => {
  let ports: { ours: number; node: number }
  before(async () => {
    ports = { ours: await listen(ours.net), node: await listen(node) }
  })
  after(async () => {
    ours.closeAll()
    await ours.close()
    node.closeAllConnections()
    node.close()
  })

  const compare = async (bytes: Buffer, quietMs: number) => {
    const [byOurs, byNode] = await Promise.all([
      tell(ports.ours, bytes, seenByOurs, quietMs),
      tell(ports.node, bytes, seenByNode, quietMs),
    ])
    const shown = JSON.stringify(bytes.toString('latin1'))
    for (const [at, taken] of byOurs.entries()) {
      const { headers, ...rest } = taken
      const { headers: nodes = {}, ...others } = byNode[at] ?? {}
      assert.deepEqual(rest, others, `${shown} is another request to Node`)
      assert.deepEqual({ ...headers }, { ...nodes }, `${shown} has other headers to Node`)
    }
  }

  it('are the same to us as to the parser of Node, or refused', async (t) => {
    await fuzz(t, async (chance) => {
      // Several at a time: most of a case is waiting.
      const batch = Array.from({ length: 16 }, () => {
        const requests = Buffer.concat([request(chance), ...chance.many(2, () => request(chance))])
        return Buffer.concat([chance.mutate(requests, TOKENS), last])
      })
      await Promise.all(
        batch.map(async (bytes) => {
          try {
            await compare(bytes, QUIET_MS)
          } catch {
            // A machine that is busy may take longer to answer; a difference stays.
            await compare(bytes, 50 * QUIET_MS)
          }
        }),
      )
    })
  })
})
