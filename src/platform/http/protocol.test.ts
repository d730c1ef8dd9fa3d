import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describeTransports, route } from '../../../test/support/http-server.ts'

const common = { auth: 'none', summary: 'A test.' } as const
const routes = [
  route({ ...common, method: 'GET', path: '/quick', handle: () => 'quick' }),
  route({ ...common, method: 'GET', path: '/base', handle: ({ request }) => request.baseUrl }),
  route({
    ...common,
    method: 'GET',
    path: '/slow',
    async handle() {
      for (let n = 0; n < 20; n += 1) await nextTurn()
      return 'slow'
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/read',
    body: 'raw',
    async handle({ body }) {
      let length = 0
      for (let piece = await body.read(); piece !== undefined; piece = await body.read())
        length += piece.length
      return length
    },
  }),
  route({ method: 'GET', path: '/private', auth: 'user', summary: 'A test.', handle: () => 'ok' }),
]

const close = 'Connection: close\r\n'
const get = (path: string, fields = 'Host: a\r\n') => `GET ${path} HTTP/1.1\r\n${fields}\r\n`
const chunked = (chunks: string) =>
  `POST /read HTTP/1.1\r\nHost: a\r\n${close}Transfer-Encoding: chunked\r\n\r\n${chunks}`
/** The statuses of all responses in `sent`. */
const statusesOf = (sent: string) =>
  Array.from(sent.matchAll(/HTTP\/1\.1 (\d+) /g), ([, status]) => Number(status))

describeTransports('HTTP', (serve) => {
  const requests: [about: string, bytes: string, status: number][] = [
    ['an invalid Host', get('/quick', 'Host: a b\r\n'), 400],
    ['a Host with a path', get('/quick', 'Host: a/b\r\n'), 400],
    ['a Host with a user', get('/quick', 'Host: u@a\r\n'), 400],
    ['two Host fields', get('/quick', 'Host: a\r\nHost: a\r\n'), 400],
    ['no Host field', get('/quick', ''), 400],
    ['too many header fields', get('/quick', `Host: a\r\n${'A: 1\r\n'.repeat(300)}`), 431],
    [
      'another transfer coding',
      'POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n',
      501,
    ],
    ['an unknown transfer coding', 'POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n', 501],
    ['chunks in HTTP/1.0', 'POST /read HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
    ['an unknown expectation', get('/quick', 'Host: a\r\nExpect: tea\r\n'), 417],
    ['a tunnel', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a target with a user', get('http://u@a/quick'), 400],
    ['an open quote in a chunk extension', chunked('1;a="b\r\na\r\n0\r\n\r\n'), 400],
    ['an invalid trailer', chunked('0\r\nX y\r\n\r\n'), 400],
    ['a trailer without a name', chunked('0\r\n: y\r\n\r\n'), 400],
    ['a chunk extension and a trailer', chunked('1;a="b c"\r\na\r\n0\r\nX: y\r\n\r\n'), 200],
    ['a framing field in a trailer', chunked('0\r\nContent-Length: 1\r\n\r\n'), 400],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ]
  for (const [about, bytes, status] of requests) {
    it(`responds to ${about} with ${status}`, async () => {
      await using server = await serve(routes)
      assert.deepEqual(statusesOf(await server.send(bytes)), [status])
    })
  }

  it('rejects an invalid chunk that arrives after the head', async () => {
    await using server = await serve(routes)
    const socket = connect(server.port, '127.0.0.1')
    const sent = text(socket)
    socket.write(chunked('5\r\nhello\r\n'))
    while (
      (await server.metrics.registry.getSingleMetricAsString('carrel_http_connections')).endsWith(' 0')
    ) {
      await nextTurn()
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    socket.write('nonsense\r\n')
    assert.match(await sent, /^HTTP\/1\.1 400 [^]*Connection: close\r\n/)
  })

  it('has a Date and no body in an error response to HEAD', async () => {
    await using server = await serve(routes)
    const sent = await server.send('HEAD /quick HTTP/1.1\r\nHost: a b\r\n\r\n')
    assert.match(sent, /^HTTP\/1\.1 400 [^]*\r\nDate: [^]*\r\n\r\n$/)
    assert.match(await server.send('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 [^]*\r\nDate: [^]*\{"detail":/)
  })

  it('builds links with the host of an absolute-form target', async () => {
    await using server = await serve(routes)
    const sent = await server.send(get('http://files.example.org:81/base', `Host: other\r\n${close}`))
    assert.match(sent, /"http:\/\/files\.example\.org:81"$/)
  })

  for (const path of ['/quick', '/slow']) {
    it(`serves pipelined requests to ${path} that arrived before the client ended its side`, async () => {
      await using server = await serve(routes)
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
      socket.end(get(path).repeat(3))
      assert.deepEqual(statusesOf(await text(socket)), [200, 200, 200])
    })
  }

  it('responds with 400 to an incomplete request behind complete ones', async () => {
    await using server = await serve(routes)
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.end(`${get('/quick').repeat(2)}GET /qui`)
    assert.deepEqual(statusesOf(await text(socket)), [200, 200, 400])
  })

  it('closes the connection of an HTTP/1.0 client that sends both keep-alive and close', async () => {
    await using server = await serve(routes)
    const sent = await server.send('GET /quick HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n')
    assert.match(sent, /^HTTP\/1\.1 200 [^]*Connection: close\r\n/)
  })

  it('ignores Upgrade in HTTP/1.0', async () => {
    const upgrade = { path: '/quick', take: () => assert.fail('it must not be upgraded') }
    await using server = await serve(routes, { upgrade })
    const sent = await server.send('GET /quick HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    assert.deepEqual(statusesOf(sent), [200])
  })

  it('ignores an empty line before a request', async () => {
    await using server = await serve(routes, { limits: { headersMs: 20, checkMs: 10 } })
    const socket = connect(server.port, '127.0.0.1')
    socket.write('\r\n')
    await new Promise((resolve) => setTimeout(resolve, 60))
    socket.write(get('/quick', `Host: a\r\n${close}`))
    assert.deepEqual(statusesOf(await text(socket)), [200])
  })

  it('names the scheme of the credentials in a 401 response', async () => {
    await using server = await serve(routes)
    const reply = await server.call('GET', '/private', { headers: { authorization: 'Token unknown' } })
    assert.deepEqual([reply.status, reply.headers['www-authenticate']], [401, 'Token'])
  })

  it('frees the memory of a body that nobody read', async () => {
    await using server = await serve(routes)
    const body = 'x'.repeat(1000)
    const post = `POST /quick HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const socket = connect(server.port, '127.0.0.1')
    for (let n = 0; n < 5; n += 1) {
      socket.write(post)
      await once(socket, 'data')
    }
    await nextTurn()
    const shown = await server.metrics.registry.getSingleMetricAsString('carrel_http_unread_bytes')
    assert.match(shown, /^carrel_http_unread_bytes 0$/m)
    socket.destroy()
  })
})
