import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { pino } from 'pino'
import { describeTransports, route, type TransportKind } from '../../../test/support/http-server.ts'
import { rawResponse } from '../responses/response.ts'
import { ListenError } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { createHttpServer } from './server.ts'

const quick = route({
  method: 'GET',
  path: '/quick',
  auth: 'none',
  summary: 'Is quick.',
  handle: () => 'quick',
})

/** A route that responds on demand, and a promise for the start of its handler. */
function gate() {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<string>()
  const gated = route({
    method: 'GET',
    path: '/gated',
    auth: 'none',
    summary: 'Waits.',
    handle() {
      reached.resolve()
      return opened.promise
    },
  })
  return { gated, reached: reached.promise, open: () => opened.resolve('open') }
}

describeTransports('closing the server', (serve, transport) => {
  it('answers what runs, and then says that it is closing', async () => {
    const { gated, reached, open } = gate()
    await using server = await serve([gated])
    const agent = new Agent({ keepAlive: true })
    const sent = request({ port: server.port, path: '/gated', agent }).end()
    await reached
    const closed = server.server.close()
    await assert.rejects(server.call('GET', '/gated'), /ECONNREFUSED/)
    open()
    const [reply] = (await once(sent, 'response')) as [IncomingMessage]
    assert.deepEqual(
      [reply.statusCode, reply.headers.connection, await text(reply)],
      [200, 'close', '"open"'],
    )
    await closed
    agent.destroy()
  })

  it('does not wait for connections that ask nothing', async () => {
    await using server = await serve([quick])
    const agent = new Agent({ keepAlive: true })
    const used = request({ port: server.port, path: '/quick', agent }).end()
    const [reply] = (await once(used, 'response')) as [IncomingMessage]
    await text(reply)
    const silent = connect(server.port, '127.0.0.1')
    await once(silent, 'connect')
    const halfway = connect(server.port, '127.0.0.1')
    halfway.write('GET /quick HT')
    // Served after the others were accepted, so the server has all connections.
    await server.call('GET', '/quick')
    silent.resume()
    halfway.resume()
    await Promise.all([server.server.close(), once(silent, 'close'), once(halfway, 'close')])
    agent.destroy()
  })

  it('takes a request that comes in on an open connection meanwhile', async () => {
    const { gated, reached, open } = gate()
    await using server = await serve([gated, quick])
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET /gated HTTP/1.1\r\nHost: a\r\n\r\nGET /quick HTTP/1.1\r\nHost: a\r\n\r\n')
    await reached
    const closed = server.server.close()
    open()
    assert.match(await text(socket), /"open"/)
    await closed
  })

  it('cuts off what does not end in time', async () => {
    const { gated, reached } = gate()
    await using server = await serve([gated])
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET /gated HTTP/1.1\r\nHost: a\r\n\r\n')
    await reached
    await Promise.all([server.server.close({ waitMs: 20 }), text(socket)])
  })

  it('waits for the work of a client that has gone', async () => {
    const { gated, reached, open } = gate()
    await using server = await serve([gated])
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET /gated HTTP/1.1\r\nHost: a\r\n\r\n')
    await reached
    socket.destroy()
    let closed = false
    const close = async () => {
      await server.server.close()
      closed = true
    }
    const closing = close()
    // One turn of the event loop after the server noticed the disconnect.
    while (server.logged.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(closed, false)
    open()
    await closing
  })

  it('may be asked for twice, and before it ever listened', async () => {
    const server = await serve([])
    await Promise.all([server.server.close(), server.server.close()])
    await freshServer(transport).close()
  })
})

describeTransports('listening', (_, transport) => {
  it('says what to do when the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const second = freshServer(transport)
    await assert.rejects(second.listen({ host: '127.0.0.1', port }), (error) => {
      assert(error instanceof ListenError)
      assert.equal(
        error.message,
        `Port ${port} on 127.0.0.1 is taken: stop what uses it or choose another port.`,
      )
      return true
    })
    await second.close()
    other.close()
  })

  const remedies: [host: string, port: number, message: RegExp][] = [
    ['203.0.113.1', 0, /^203\.0\.113\.1 is no address of this machine: choose/],
    ['no-such-host.invalid', 0, /^no-such-host\.invalid is no address of this machine: choose/],
    ['127.0.0.1', 70_000, /^70000 is no port: choose/],
  ]
  for (const [host, port, message] of remedies) {
    it(`says what to do about ${host} port ${port}`, async () => {
      const server = freshServer(transport)
      await assert.rejects(
        server.listen({ host, port }),
        (error) => error instanceof ListenError && message.test(error.message),
      )
      await server.close()
    })
  }
})

describeTransports('a client that keeps us waiting', (serve) => {
  const post = route({
    method: 'POST',
    path: '/post',
    auth: 'none',
    summary: 'Takes a form.',
    handle: () => 'ok',
  })

  it('for its headers is answered 408 and cut off', async () => {
    await using server = await serve([quick], { limits: { headersMs: 20, checkMs: 10 } })
    assert.match(await server.send('GET /quick HTTP/1.1\r\nHost:'), /^HTTP\/1\.1 408 Request Timeout\r\n/)
  })

  it('for anything at all is cut off', async () => {
    await using server = await serve([quick], { limits: { idleMs: 30 } })
    assert.equal(await server.send(''), '')
  })

  it('for the rest of its body is cut off', async () => {
    await using server = await serve([post], { limits: { idleMs: 30 } })
    assert.equal(await server.send('POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc'), '')
    await server.server.close()
    assert.equal(
      server.logged.some(({ level }) => level === 50),
      false,
    )
  })

  it('for its next request is cut off', async () => {
    await using server = await serve([quick], { limits: { keepAliveMs: 10, idleMs: 5000 } })
    const started = performance.now()
    assert.match(await server.send('GET /quick HTTP/1.1\r\nHost: a\r\n\r\n'), /"quick"$/)
    assert(performance.now() - started < 4000)
  })

  it('with another protocol is not, though it asked for something before', async () => {
    await using server = await serve([quick], {
      limits: { keepAliveMs: 10, idleMs: 60_000 },
      upgrade: {
        path: '/other',
        take(_request, socket) {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n')
          socket.on('data', (heard) => socket.write(heard))
        },
      },
    })
    const ask = 'GET /quick HTTP/1.1\r\nHost: a\r\n'
    const other = connect(server.port, '127.0.0.1')
    other.write(`${ask}\r\n`)
    assert.match(String((await once(other, 'data'))[0]), / 200 /)
    other.write('GET /other HTTP/1.1\r\nHost: a\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n')
    assert.match(String((await once(other, 'data'))[0]), / 101 /)
    // Started later, and already complete.
    assert.match(await server.send(`${ask}\r\n`), /"quick"$/)
    assert.equal(other.readyState, 'open')
    other.write('still there')
    assert.equal(String((await once(other, 'data'))[0]), 'still there')
    other.destroy()
  })

  it('by not taking its answer is cut off', async () => {
    const endless = new Readable({
      read() {
        this.push(Buffer.alloc(65536))
      },
    })
    const big = route({
      method: 'GET',
      path: '/big',
      auth: 'none',
      summary: 'Is big.',
      handle: () => rawResponse({ body: endless }),
    })
    await using server = await serve([big], { limits: { idleMs: 50 } })
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write('GET /big HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(endless, 'close')
    socket.destroy()
  })

  it('is not confused with one that waits for us', async () => {
    const { gated, reached, open } = gate()
    await using server = await serve([gated], { limits: { idleMs: 20 } })
    const answered = server.call('GET', '/gated')
    await reached
    // Three times the idle timeout, measured by the same clock.
    await new Promise((resolve) => setTimeout(resolve, 60))
    open()
    assert.equal((await answered).text, '"open"')
  })
})

/** A server that does not listen yet. */
function freshServer(kind: TransportKind) {
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
    transport: { kind },
  })
}
