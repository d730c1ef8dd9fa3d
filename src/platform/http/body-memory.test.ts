import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { asAnn, route, serve } from '../../../test/support/http-server.ts'
import type { Refusal } from '../responses/refusal.ts'
import { BodyMemory } from './body-memory.ts'

const MIB = 2 ** 20

const form = route({
  method: 'POST',
  path: '/form',
  auth: 'none',
  bodyLimit: MIB,
  summary: 'Buffers a body.',
  body: {},
  handle: ({ request }) => request.bodyFields.names().length,
})
const own = route({
  method: 'POST',
  path: '/own',
  auth: 'user',
  bodyLimit: MIB,
  summary: 'Buffers a body of an account.',
  body: {},
  handle: () => 'ok',
})
const quick = route({
  method: 'GET',
  path: '/quick',
  auth: 'none',
  summary: 'A test.',
  handle: () => 'quick',
})
const routes = [form, own, quick]
const limits = { bodyMemory: 2 * MIB, bodyMemoryWaitMs: 50 }
const proxied = { trustedProxies: ['127.0.0.1'], limits }

/** Sends a body without its last byte. */
function begin(port: number, path: string, headers: readonly string[], length: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const head = [`POST ${path} HTTP/1.1`, 'Host: a', `Content-Length: ${length}`, ...headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(Buffer.alloc(length - 1, 'a'))
  return socket
}

/** The response, which arrives in one piece. */
async function answerOf(socket: Socket): Promise<string> {
  const [heard] = (await once(socket, 'data')) as [Buffer]
  return String(heard)
}

describe('the memory of buffered bodies', () => {
  it('is bounded in all: who does not get any in time is told to come back', async () => {
    await using server = await serve(routes, proxied)
    const held = [1, 2, 3, 4].map((n) =>
      begin(server.port, '/form', [`X-Forwarded-For: 192.0.2.${n}`], MIB / 2),
    )
    await reserved(server, 2 * MIB)
    const refused = begin(server.port, '/form', ['X-Forwarded-For: 192.0.2.9'], MIB / 2)
    assert.match(
      await answerOf(refused),
      /^HTTP\/1\.1 503 [^]*Retry-After: \d+\r\n[^]*"detail":"Server is busy/,
    )
    // Requests with a small body or none are served meanwhile.
    assert.equal((await server.call('GET', '/quick')).text, '"quick"')
    for (const socket of held) {
      socket.write('a')
      assert.match(await answerOf(socket), /^HTTP\/1\.1 200 /)
      socket.destroy()
    }
    const later = begin(server.port, '/form', ['X-Forwarded-For: 192.0.2.9'], MIB / 2)
    later.write('a')
    assert.match(await answerOf(later), /^HTTP\/1\.1 200 /)
    later.destroy()
  })

  it('is shared: an address takes a quarter of it, and the others get theirs', async () => {
    await using server = await serve(routes, proxied)
    const mine = 'X-Forwarded-For: 2001:db8::1'
    const first = begin(server.port, '/form', [mine], MIB / 2)
    await reserved(server, MIB / 2)
    const second = begin(server.port, '/form', ['X-Forwarded-For: 2001:db8::2'], MIB / 2)
    assert.match(await answerOf(second), /^HTTP\/1\.1 503 /)
    const other = begin(server.port, '/form', ['X-Forwarded-For: 2001:db8:1::1'], MIB / 2)
    other.write('a')
    assert.match(await answerOf(other), /^HTTP\/1\.1 200 /)
    first.destroy()
    other.destroy()
    await reserved(server, 0)
  })

  it('is shared between accounts too, from whatever address they come', async () => {
    await using server = await serve(routes, proxied)
    const token = `Authorization: ${asAnn.authorization}`
    const first = begin(server.port, '/own', ['X-Forwarded-For: 192.0.2.1', token], MIB / 2)
    await reserved(server, MIB / 2)
    const second = begin(server.port, '/own', ['X-Forwarded-For: 192.0.2.2', token], MIB / 2)
    assert.match(await answerOf(second), /^HTTP\/1\.1 503 /)
    first.destroy()
    await reserved(server, 0)
  })

  it('is not reserved for who may not send a body', async () => {
    await using server = await serve(routes, proxied)
    const stranger = begin(server.port, '/own', ['X-Forwarded-For: 192.0.2.1'], MIB)
    assert.match(await answerOf(stranger), /^HTTP\/1\.1 403 /)
    assert.equal(await memoryOf(server), 0)
    stranger.destroy()
  })

  it('follows the bytes of a body in chunks', async () => {
    await using server = await serve(routes, proxied)
    const socket = connect(server.port, '127.0.0.1')
    socket.write('POST /form HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    socket.write('1\r\na\r\n'.repeat(10_000))
    await reserved(server, 10_000)
    socket.write('0\r\n\r\n')
    assert.match(await answerOf(socket), /^HTTP\/1\.1 200 /)
    socket.destroy()
    await reserved(server, 0)
  })

  it('is given up by a client that sends next to nothing while others wait', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
    const memory = new BodyMemory({ total: 1000, waitMs: 1_000_000 })
    const slow = memory.claim('192.0.2.1')
    await slow.growTo(900)
    const refusals: Refusal[] = []
    slow.receiving({
      received: () => 10,
      onExpired(given) {
        refusals.push(given)
        slow.release()
      },
    })
    const waiting = memory.claim('192.0.2.2').growTo(500)
    const now = performance.now()
    slow.expire(now + 9_000)
    assert.equal(refusals.length, 0)
    slow.expire(now + 12_000)
    assert.equal(refusals[0]?.status, 408)
    await waiting
    assert.equal(memory.used, 500)
  })
})

type Server = Awaited<ReturnType<typeof serve>>

async function memoryOf(server: Server): Promise<number> {
  const shown = await server.metrics.registry.getSingleMetricAsString('carrel_http_body_memory_bytes')
  return Number(/^carrel_http_body_memory_bytes (\S+)$/m.exec(shown)?.[1])
}

/** Resolves when exactly this many bytes are reserved. */
async function reserved(server: Server, bytes: number): Promise<void> {
  let seen = await memoryOf(server)
  for (const until = performance.now() + 5000; seen !== bytes && performance.now() < until; ) {
    await new Promise((resolve) => setImmediate(resolve))
    seen = await memoryOf(server)
  }
  assert.equal(seen, bytes)
}
