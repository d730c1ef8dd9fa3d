import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { createMetrics } from './metrics.ts'
import { createHttpServer } from './server.ts'
import { StartingPort } from './starting-port.ts'

const anywhere = { host: '127.0.0.1', port: 0 }

async function ask(port: number, path: string, body?: string) {
  const sent = request({ port, path, method: body === undefined ? 'GET' : 'POST', agent: false })
  sent.end(body)
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: reply.statusCode, headers: reply.headers, text: await text(reply) }
}

function freshServer() {
  return createHttpServer({
    surfaces: [],
    services: {},
    authenticate: () => ({ kind: 'unknown' }),
    isAdmin: () => false,
    userKey: String,
    rateLimit: { enabled: false, now: () => 0 },
    logger: pino({ level: 'silent' }),
    metrics: createMetrics(),
    ready: () => Promise.resolve({ ok: true, checks: {} }),
  })
}

describe('the port of a server that starts', () => {
  it('answers probes, and passes other requests on when the server can serve', async () => {
    await using starting = await StartingPort.open(anywhere)
    const { port } = starting.address
    const ready = await ask(port, '/readyz')
    assert.equal(ready.status, 503)
    assert.deepEqual(JSON.parse(ready.text), { status: 'starting', reason: 'The server is starting.' })
    assert.deepEqual([(await ask(port, '/healthz')).status, ready.headers.connection], [200, 'close'])

    // A request that is complete, one whose line is not, and a connection without a byte.
    const complete = ask(port, '/unknown', 'x'.repeat(100_000))
    const sockets = [net.connect(port), net.connect(port)] as const
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    sockets[0].write('GET /rea')
    const gone = net.connect({ port, allowHalfOpen: true })
    gone.end()
    await once(gone.resume(), 'end')
    // Answered after the others were accepted.
    assert.equal((await ask(port, '/readyz')).status, 503)

    await using server = freshServer()
    assert.equal((await server.listen({ ...anywhere, source: starting })).port, port)
    assert.equal((await complete).status, 404)
    sockets[0].write('dyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    sockets[1].write('GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    for (const socket of sockets) assert.match(await text(socket), /^HTTP\/1\.1 200 /)
    assert.equal((await ask(port, '/readyz')).status, 200)
    await server.close()
    await assert.rejects(ask(port, '/readyz'), /ECONNREFUSED/)
  })

  it('answers requests with 503 when the start takes too long', async () => {
    await using starting = await StartingPort.open(anywhere, { maxWaitMs: 1 })
    const reply = await ask(starting.address.port, '/api2/ping/', 'x'.repeat(100_000))
    assert.deepEqual([reply.status, JSON.parse(reply.text)], [503, { error_msg: 'The server is starting.' }])
    assert.ok(Number(reply.headers['retry-after']) > 0)
  })

  it('says so if it is taken', async () => {
    await using first = await StartingPort.open(anywhere)
    const { port } = first.address
    await assert.rejects(
      StartingPort.open({ ...anywhere, port }),
      new RegExp(`Port ${port} on 127.0.0.1 is taken`),
    )
  })
})
