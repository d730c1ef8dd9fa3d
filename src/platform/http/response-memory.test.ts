import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { it } from 'node:test'
import { asAnn, describeTransports, route, type TestServer } from '../../../test/support/http-server.ts'

const MB = 1_000_000
const large = 'x'.repeat(7 * MB)
const get = { method: 'GET', auth: 'user', summary: 'A test.' } as const
const routes = [
  route({ ...get, path: '/large', handle: () => large }),
  route({ ...get, path: '/small', handle: () => 'small' }),
  route({ ...get, method: 'POST', path: '/change', handle: () => large }),
]

/** Sends a request and reads nothing of its response beyond the head. */
async function askAndStall(
  { port }: TestServer,
  line: string,
  account: string,
): Promise<{ status: string; socket: Socket }> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`${line} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nAuthorization: Token ${account}\r\n\r\n`)
  const [first] = await new Promise<[Buffer]>((resolve) => {
    socket.once('data', (bytes: Buffer) => {
      socket.pause()
      resolve([bytes])
    })
  })
  return { status: String(first).slice(9, 12), socket }
}

describeTransports('responses that are not read', (serve) => {
  it('take the share of their account, and others are served', async () => {
    await using server = await serve(routes, { limits: { bodyMemory: 64 * MB } })
    const stalled = [
      await askAndStall(server, 'GET /large', 'ann'),
      await askAndStall(server, 'GET /large', 'ann'),
      await askAndStall(server, 'GET /large', 'ann'),
    ]
    assert.deepEqual(
      stalled.map(({ status }) => status),
      ['200', '200', '503'],
    )
    const refused = await server.call('GET', '/large', { headers: asAnn })
    assert.equal(refused.status, 503)
    assert.ok(refused.headers['retry-after'])
    // What the socket takes at once needs no memory, and a change that was made is acknowledged.
    assert.equal((await server.call('GET', '/small', { headers: asAnn })).status, 200)
    assert.equal((await server.call('POST', '/change', { headers: asAnn })).status, 200)
    const other = await askAndStall(server, 'GET /large', 'ben')
    assert.equal(other.status, '200')
    for (const { socket } of [...stalled, other]) socket.destroy()
    while ((await unsent(server)) > 0) await server.call('GET', '/small', { headers: asAnn })
    assert.equal((await server.call('GET', '/large', { headers: asAnn })).text.length, large.length + 2)
    assert.equal(await unsent(server), 0)
  })

  it('keep their client from asking for more', async () => {
    await using server = await serve(routes, {
      limits: { bodyMemory: 16 * MB },
      trustedProxies: ['127.0.0.1'],
    })
    const from = (address: string) => ({ headers: { ...asAnn, 'x-forwarded-for': address } })
    const stalled = await askAndStall(server, 'GET /large', 'ann\r\nX-Forwarded-For: 203.0.113.9')
    assert.equal((await server.call('GET', '/small', from('203.0.113.9'))).status, 503)
    assert.equal((await server.call('POST', '/change', from('203.0.113.9'))).status, 503)
    assert.equal((await server.call('GET', '/small', from('203.0.113.10'))).status, 200)
    stalled.socket.destroy()
  })
})

async function unsent({ metrics }: TestServer): Promise<number> {
  const text = await metrics.registry.metrics()
  return Number(/^carrel_http_unsent_bytes (\d+)$/m.exec(text)?.[1])
}
