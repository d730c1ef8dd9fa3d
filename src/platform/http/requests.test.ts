import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { it } from 'node:test'
import { describeTransports, route, type TestServer } from '../../../test/support/http-server.ts'
import { rawText } from '../input/readers.ts'
import type { HttpRequest } from './request.ts'

const whoami = route({
  method: 'GET',
  path: '/whoami',
  auth: 'none',
  summary: 'Tells what the server sees.',
  handle: ({ request }) => ({ address: request.address, baseUrl: request.baseUrl, id: request.id }),
})

async function seen(server: TestServer, headers: Record<string, string>): Promise<Record<string, string>> {
  const reply = await server.call('GET', '/whoami', { headers })
  const body = JSON.parse(reply.text) as Record<string, string>
  assert.equal(body.id, reply.headers['x-request-id'])
  return body
}

const forwarded = {
  host: 'inner',
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-host': 'files.example.org',
  'x-forwarded-proto': 'https',
  'x-request-id': 'from-proxy_1.2',
}

describeTransports('a request', (serve) => {
  it('is who and where its connection says, without a trusted proxy', async () => {
    await using server = await serve([whoami])
    const { address, baseUrl, id } = await seen(server, forwarded)
    assert.deepEqual([address, baseUrl], ['127.0.0.1', 'http://inner'])
    assert.notEqual(id, 'from-proxy_1.2')
  })

  it('is who and where a trusted proxy says', async () => {
    await using server = await serve([whoami], { trustedProxies: ['127.0.0.0/8'] })
    assert.deepEqual(await seen(server, forwarded), {
      address: '203.0.113.9',
      baseUrl: 'https://files.example.org',
      id: 'from-proxy_1.2',
    })
    for (const odd of ['a b', 'x'.repeat(65), '"', '<b>']) {
      assert.notEqual((await seen(server, { ...forwarded, 'x-request-id': odd })).id, odd)
    }
  })

  it('gets links to where it came in when its host is nonsense', async () => {
    await using server = await serve([whoami])
    assert.equal((await seen(server, { host: "a'b" })).baseUrl, `http://127.0.0.1:${server.port}`)
  })

  it('gets links to the public URL when there is one', async () => {
    await using server = await serve([whoami], { publicUrl: 'https://files.example.org/' })
    assert.equal((await seen(server, { host: 'other' })).baseUrl, 'https://files.example.org')
  })

  it('has an id of its own', async () => {
    await using server = await serve([whoami])
    assert.notEqual((await seen(server, {})).id, (await seen(server, {})).id)
  })
})

describeTransports('the request log', (serve) => {
  it('has the address of the client, through the proxies that are trusted and no others', async () => {
    const forwarded = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' }
    {
      await using server = await serve([whoami], { trustedProxies: ['127.0.0.0/8'] })
      await seen(server, forwarded)
      await seen(server, { 'x-forwarded-for': '","address":"198.51.100.1' })
      await server.server.close()
      assert.deepEqual(
        server.logged.map(({ address }) => address),
        ['203.0.113.7', '127.0.0.1'],
      )
    }
    const members: string[] = []
    await using server = await serve([whoami], { logRequest: (line) => members.push(line) })
    await seen(server, forwarded)
    await server.server.close()
    assert.equal(JSON.parse(`{${members[0]}}`).address, '127.0.0.1')
  })
})

describeTransports('a client that goes away', (serve) => {
  it('aborts what is done for it, which is no failure', async () => {
    const arrived = Promise.withResolvers<HttpRequest>()
    const slow = route({
      method: 'GET',
      path: '/slow',
      auth: 'none',
      summary: 'Takes its time.',
      async handle({ request }) {
        arrived.resolve(request)
        await once(request.signal, 'abort')
        request.signal.throwIfAborted()
      },
    })
    await using server = await serve([slow])
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'),
    )
    const request = await arrived.promise
    assert.equal(request.signal.aborted, false)
    socket.destroy()
    await once(request.signal, 'abort')
    assert.equal(request.isAbandoned, true)
    await server.server.close()
    assert.deepEqual(
      server.logged.map(({ level, msg, status, address }) => [level, msg, status, address]),
      [[30, 'request', 499, '127.0.0.1']],
    )
  })

  it('does not hide a bug that strikes at the same time', async () => {
    const arrived = Promise.withResolvers<void>()
    const buggy = route({
      method: 'GET',
      path: '/buggy',
      auth: 'none',
      summary: 'Breaks.',
      async handle({ request }) {
        arrived.resolve()
        await once(request.signal, 'abort')
        throw new TypeError('a bug')
      },
    })
    await using server = await serve([buggy])
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write('GET /buggy HTTP/1.1\r\nHost: a\r\n\r\n'),
    )
    await arrived.promise
    socket.destroy()
    await server.server.close()
    assert.match(JSON.stringify(server.logged), /a bug/)
  })

  it('in the middle of its body is no failure either', async () => {
    const post = route({
      method: 'POST',
      path: '/post',
      auth: 'none',
      summary: 'Takes a form.',
      handle: () => 'ok',
    })
    await using server = await serve([post])
    const socket = connect(server.port, '127.0.0.1')
    socket.write('POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\nabc')
    await once(socket, 'data') // "100 Continue": the request is being served.
    socket.destroy()
    await server.server.close()
    assert.deepEqual(
      server.logged.map(({ level, status }) => [level, status]),
      [[30, 499]],
    )
  })

  it('after its answer aborts nothing', async () => {
    let request: HttpRequest | undefined
    const quick = route({
      method: 'GET',
      path: '/quick',
      auth: 'none',
      summary: 'Is quick.',
      handle(input) {
        request = input.request
        return request.signal.aborted
      },
    })
    await using server = await serve([quick])
    assert.equal((await server.call('GET', '/quick')).text, 'false')
    await server.server.close()
    assert.equal(request?.signal.aborted, false)
  })
})

describeTransports('the request log', (serve) => {
  it('has one line a request, with the route but nothing private', async () => {
    const file = route({
      method: 'GET',
      path: '/files/:name/',
      auth: 'user',
      summary: 'Shows a file.',
      params: { name: rawText() },
      handle: () => 'ok',
    })
    await using server = await serve([file])
    const reply = await server.call('GET', '/files/private.txt?p=/secret', {
      headers: { authorization: 'Token ann' },
    })
    await server.server.close()
    assert.equal(server.logged.length, 1)
    const { level, method, route: pattern, status, ms, request, user } = server.logged[0] ?? {}
    assert.deepEqual(
      [level, method, pattern, status, user],
      [30, 'GET', '/files/:name/', 200, 'ann@example.org'],
    )
    assert.equal(typeof ms, 'number')
    assert.equal(request, reply.headers['x-request-id'])
    assert.doesNotMatch(JSON.stringify(server.logged), /private|secret|Token/)
  })

  it('warns of slow answers', async () => {
    await using server = await serve([whoami], { limits: { slowMs: -1 } })
    await server.call('GET', '/whoami')
    await server.server.close()
    assert.deepEqual(
      server.logged.map(({ level, msg }) => [level, msg]),
      [[40, 'slow request']],
    )
  })

  it('mentions probes only when debugging', async () => {
    await using server = await serve([])
    await server.call('GET', '/healthz')
    await server.server.close()
    assert.deepEqual(
      server.logged.map(({ level, route }) => [level, route]),
      [[20, '/healthz']],
    )
  })
})
