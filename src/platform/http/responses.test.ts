import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { it } from 'node:test'
import { describeTransports, route, type Serve, testFaults } from '../../../test/support/http-server.ts'
import { DomainError, fail } from '../../base/errors.ts'
import { errorMessage, Refusal } from '../responses/refusal.ts'
import { jsonResponse, jsonTextResponse, rawResponse } from '../responses/response.ts'
import type { FaultResponses } from './route.ts'

/** Serves one route, `/`. */
const serveOneWith =
  (serve: Serve) =>
  (handle: () => unknown, faults: FaultResponses = {}) =>
    serve([route({ method: 'GET', path: '/', auth: 'none', summary: 'A test.', faults, handle })])

function failingStream(): Readable {
  return new Readable({
    read() {
      this.destroy(new Error('broken'))
    },
  })
}

describeTransports('what a handler returns', (serve) => {
  const serveOne = serveOneWith(serve)
  const cases: [
    about: string,
    value: () => unknown,
    status: number,
    text: string,
    headers?: Record<string, string>,
  ][] = [
    ['text, with its slashes as they are', () => 'http://a/b', 200, '"http://a/b"'],
    ['objects in UTF-8', () => ({ name: 'ä📚' }), 200, '{"name":"ä📚"}'],
    ['null', () => null, 200, 'null'],
    ['a promise', () => Promise.resolve([1]), 200, '[1]'],
    ['half a character, escaped', () => '\ud800', 200, '"\\ud800"'],
    [
      'another status and headers',
      () => jsonResponse(201, { a: 1 }, { oid: 'x' }),
      201,
      '{"a":1}',
      { oid: 'x' },
    ],
    ['a status of our own', () => jsonResponse(443, {}), 443, '{}'],
    [
      'JSON already written',
      () => jsonTextResponse('[ 1 ]', { headers: { oid: 'y' } }),
      200,
      '[ 1 ]',
      { oid: 'y' },
    ],
    ['JSON already in bytes', () => jsonTextResponse(Buffer.from('"ä"')), 200, '"ä"'],
    [
      'bytes',
      () => rawResponse({ headers: { 'Content-Type': 'image/png' }, body: Buffer.from('ä') }),
      200,
      'ä',
      { 'content-type': 'image/png', 'content-length': '2' },
    ],
    [
      'plain text',
      () => rawResponse({ status: 403, headers: { 'Content-Type': 'text/plain' }, body: 'no' }),
      403,
      'no',
      { 'content-type': 'text/plain' },
    ],
    ['nothing, where the status allows none', () => rawResponse({ status: 204, body: '' }), 204, ''],
    [
      'a stream',
      () => rawResponse({ body: Readable.from([Buffer.from('a'), Buffer.from('b')]) }),
      200,
      'ab',
      { 'transfer-encoding': 'chunked' },
    ],
    [
      'a stream of known length',
      () => rawResponse({ headers: { 'Content-Length': 2 }, body: Readable.from(['ab']) }),
      200,
      'ab',
      { 'content-length': '2' },
    ],
    ['several cookies', () => jsonResponse(200, 1, { 'Set-Cookie': ['a=1', 'b=2'] }), 200, '1'],
  ]
  for (const [about, value, status, text, headers = {}] of cases) {
    it(`may be ${about}`, async () => {
      await using server = await serveOne(value)
      const reply = await server.call('GET', '/')
      assert.deepEqual([reply.status, reply.text], [status, text])
      for (const name in headers) assert.equal(reply.headers[name], headers[name])
      if (about === 'several cookies') assert.deepEqual(reply.headers['set-cookie'], ['a=1', 'b=2'])
      assert.match(String(reply.headers['x-request-id']), /^[0-9a-f]{12}-1$/)
    })
  }

  const failures: [about: string, value: () => unknown][] = [
    ['nothing', () => undefined],
    ['a function', () => () => 1],
    [
      'a circle',
      () => {
        const circle: unknown[] = []
        circle.push(circle)
        return circle
      },
    ],
    ['a header with a line break', () => jsonResponse(200, 1, { Location: '/a\r\nX-Evil: 1' })],
    [
      'a stream with such a header',
      () => rawResponse({ headers: { 'X-Name': 'a\nb' }, body: Readable.from(['a']) }),
    ],
    ['a stream that fails at once', () => rawResponse({ headers: { oid: 'x' }, body: failingStream() })],
    [
      'a stream that has already failed',
      () =>
        rawResponse({ body: new Readable({ read() {} }).on('error', () => {}).destroy(new Error('broken')) }),
    ],
  ]
  for (const [about, value] of failures) {
    it(`is our bug when it is ${about}`, async () => {
      await using server = await serveOne(value)
      const reply = await server.call('GET', '/')
      assert.deepEqual([reply.status, reply.text], [500, '{"error_msg":"Internal Server Error"}'])
      assert.equal(reply.headers['x-evil'], undefined)
      assert.equal(reply.headers.oid, undefined)
      assert.equal(server.logged.filter(({ level }) => level === 50).length, 1)
    })
  }

  it('cuts the connection when a stream fails halfway, so that no part passes for the whole', async () => {
    const body = new Readable({ read() {} })
    body.push('half')
    await using server = await serveOne(() => rawResponse({ body }))
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    let received = ''
    for await (const chunk of socket) {
      received += String(chunk)
      if (received.includes('half')) body.destroy(new Error('broken'))
    }
    assert.match(received, /\r\n4\r\nhalf\r\n$/)
    assert.equal(server.logged.filter(({ msg }) => msg === 'request failed').length, 1)
  })

  it('destroys the stream of a client that went away, and calls it no failure', async () => {
    const endless = new Readable({
      read() {
        this.push(Buffer.alloc(65536))
      },
    })
    await using server = await serveOne(() => rawResponse({ body: endless }))
    const socket = connect(server.port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'))
    await once(socket, 'data')
    socket.destroy()
    await once(endless, 'close')
    await server.server.close()
    assert.deepEqual(
      server.logged.map(({ msg, status }) => [msg, status]),
      [['request', 499]],
    )
  })

  it('is not read on HEAD, where a stream is closed unread', async () => {
    const unread = Readable.from(['ab'])
    await using server = await serveOne(() => rawResponse({ headers: { 'Content-Length': 2 }, body: unread }))
    const reply = await server.call('HEAD', '/')
    assert.deepEqual([reply.status, reply.headers['content-length'], reply.text], [200, '2', ''])
    assert.equal(unread.destroyed, true)
  })
})

describeTransports('what a handler throws', (serve) => {
  const serveOne = serveOneWith(serve)
  const lost = () => fail({ code: 'library-not-found', id: 'x' })
  const cases: [
    about: string,
    handle: () => unknown,
    faults: FaultResponses,
    status: number,
    body: unknown,
  ][] = [
    ['a fault, in the words of the surface', lost, {}, 404, { error_msg: 'Library x not found.' }],
    [
      'a fault, in the words of the route',
      lost,
      { 'library-not-found': ({ id }) => [410, `${id} is gone.`] },
      410,
      { error_msg: 'x is gone.' },
    ],
    [
      'a fault the route has no words for',
      lost,
      { 'permission-denied': () => [403, 'No.'] },
      404,
      { error_msg: 'Library x not found.' },
    ],
    [
      'a refusal, as it is',
      () => {
        throw new Refusal(403, { lib_need_decrypt: true })
      },
      {},
      403,
      { lib_need_decrypt: true },
    ],
    [
      'a refusal from later on',
      async () => {
        await Promise.resolve()
        throw errorMessage(443, 'Out of quota.')
      },
      {},
      443,
      { error_msg: 'Out of quota.' },
    ],
  ]
  for (const [about, handle, faults, status, body] of cases) {
    it(`may be ${about}`, async () => {
      await using server = await serveOne(handle, faults)
      const reply = await server.call('GET', '/')
      assert.deepEqual([reply.status, JSON.parse(reply.text)], [status, body])
      assert.equal(
        server.logged.some(({ level }) => level === 50),
        false,
      )
    })
  }

  it('is logged once with its cause and the request id when it is a bug of ours', async () => {
    await using server = await serveOne(() => {
      throw new Error('cannot read', { cause: new Error('disk on fire') })
    })
    const reply = await server.call('GET', '/?token=secret')
    assert.deepEqual([reply.status, reply.text], [500, '{"error_msg":"Internal Server Error"}'])
    const errors = server.logged.filter(({ level }) => level === 50)
    assert.equal(errors.length, 1)
    assert.equal(errors[0]?.request, reply.headers['x-request-id'])
    assert.match(JSON.stringify(errors[0]), /cannot read.*disk on fire/)
    assert.doesNotMatch(JSON.stringify(server.logged), /secret/)
  })

  it('is what the handler threw, also if it could not release what it held', async () => {
    await using server = await serveOne(async () => {
      await using _held = { [Symbol.asyncDispose]: () => Promise.reject(new Error('cannot release it')) }
      throw new DomainError({ code: 'permission-denied' })
    })
    assert.equal((await server.call('GET', '/')).status, 400)
    const errors = server.logged.filter(({ level }) => level === 50)
    assert.equal(errors.length, 1)
    assert.match(JSON.stringify(errors[0]), /cannot release it/)
  })

  it('is put in the words of its surface, bugs and all', async () => {
    const test = (path: string, handle: () => unknown) =>
      route({ method: 'GET', path, auth: 'none', summary: 'A test.', handle })
    const broken = () => Promise.reject(new Error('bug'))
    const denied = () => Promise.reject(new DomainError({ code: 'permission-denied' }))
    await using server = await serve([], {
      surfaces: [
        {
          routes: [test('/bug', broken), test('/fault', denied)],
          faults: { ...testFaults, 'permission-denied': () => [403, 'Permission denied'] },
          faultBody: (error) => ({ error }),
          onUnknownError: () => rawResponse({ status: 500, body: 'Internal error' }),
        },
        {
          routes: [test('/throws', broken)],
          faults: testFaults,
          onUnknownError: () => fail({ code: 'permission-denied' }),
        },
      ],
    })
    assert.equal((await server.call('GET', '/bug')).text, 'Internal error')
    assert.equal((await server.call('GET', '/fault')).text, '{"error":"Permission denied"}')
    assert.equal((await server.call('GET', '/throws')).text, '{"error_msg":"Internal Server Error"}')
  })
})

describeTransports('a raw body', (serve) => {
  it('is handed over as it comes in, of any type and size', async () => {
    const upload = route({
      method: 'POST',
      path: '/upload',
      auth: 'none',
      summary: 'Takes bytes.',
      body: 'raw',
      async handle({ body, request }) {
        let length = 0
        for (let piece = await body.read(); piece !== undefined; piece = await body.read())
          length += piece.length
        return [length, request.bodyFields.names()]
      },
    })
    await using server = await serve([upload])
    const body = Buffer.alloc(3 * 1024 * 1024)
    const reply = await server.call('POST', '/upload', {
      headers: { 'content-type': 'application/octet-stream' },
      body,
    })
    assert.equal(reply.text, '[3145728,[]]')
  })
})
