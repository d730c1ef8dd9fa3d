import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  asAnn,
  describeTransports,
  route,
  serve,
  type TestServer,
} from '../../../test/support/http-server.ts'
import { type Operation, Overdue } from '../../base/scheduling/index.ts'
import { Fields } from '../input/fields.ts'
import { flag, integer, list, map, required, text } from '../input/readers.ts'
import { HttpResponse } from '../responses/response.ts'

const digits = map(required(), (sent) => (/^\d+$/.test(sent) ? Number(sent) : undefined))

const routes = [
  route({
    method: 'GET',
    path: '/api2/ping/',
    auth: 'none',
    summary: 'Answers.',
    handle: (_, { greeting }) => greeting,
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:id/dir/',
    auth: 'user',
    summary: 'Lists a folder.',
    params: { id: digits },
    query: { p: text(), page: integer({ default: 1, min: 1 }), recursive: flag() },
    handle: ({ user, params, query }) => ({ user: user.email, id: params.id, ...query }),
  }),
  route({
    method: 'POST',
    path: '/api2/repos/:id/dir/',
    auth: 'user',
    summary: 'Makes a folder.',
    params: { id: digits },
    body: { name: required(), tag: list() },
    handle: ({ body }) => body,
  }),
  route({
    method: 'DELETE',
    path: '/api2/repos/batch/',
    auth: 'user',
    summary: 'Deletes several.',
    body: { name: list({ nonEmpty: true }) },
    handle: ({ body }) => body.name,
  }),
  route({
    method: 'GET',
    path: '/api2/repos/:id/',
    auth: 'none',
    summary: 'Shows one.',
    params: { id: digits },
    handle: ({ params }) => params.id,
  }),
  route({
    method: 'GET',
    path: '/api2/admin/',
    auth: 'admin',
    summary: 'For administrators.',
    handle: ({ user }) => user.email,
  }),
  route({
    method: 'POST',
    path: '/api2/auth-token/',
    auth: 'none',
    summary: 'Signs in.',
    prefix: true,
    handle: ({ request }) => request.bodyFields.text('username') ?? null,
  }),
]

describeTransports('the HTTP server', (serve) => {
  let server: TestServer
  before(async () => {
    server = await serve(routes)
  })
  after(() => server.server.close())

  const json = 'application/json; charset=utf-8'
  const missing = { detail: 'Authentication credentials were not provided.' }
  const unknown = { error_msg: 'Not found.' }
  const folder = { user: 'ann@example.org', id: 5, p: '/a b', page: 1, recursive: false }
  const cases: [about: string, line: string, authorization: string, status: number, body: unknown][] = [
    ['answers with the slash', 'GET /api2/ping/', '', 200, 'hello'],
    ['answers without the slash', 'GET /api2/ping', '', 200, 'hello'],
    ['ignores credentials where none are needed', 'GET /api2/ping/', 'Token nobody', 200, 'hello'],
    ['reads path and query', 'GET /api2/repos/5/dir/?p=/a+b', 'Token ann', 200, folder],
    ['reads path and query without the slash', 'GET /api2/repos/5/dir?p=%2Fa%20b', 'bearer ann', 200, folder],
    [
      'refuses what a reader refuses',
      'GET /api2/repos/5/dir/?page=0',
      'Token ann',
      400,
      { error_msg: 'page invalid.' },
    ],
    ['knows no path segment of the wrong shape', 'GET /api2/repos/x/dir/', 'Token ann', 404, unknown],
    ['knows no empty path segment', 'GET /api2/repos//dir/', 'Token ann', 404, unknown],
    ['knows no segment with a broken escape', 'GET /api2/repos/%zz/dir/', 'Token ann', 404, unknown],
    ['knows no segment that is not UTF-8', 'GET /api2/repos/%ff/dir/', 'Token ann', 404, unknown],
    ['knows no endless segment', `GET /api2/repos/${'1'.repeat(2000)}/dir/`, 'Token ann', 404, unknown],
    ['knows no unknown path', 'GET /api2/nothing/', '', 404, unknown],
    ['knows no path in other case', 'GET /API2/ping/', '', 404, unknown],
    ['knows no path below a path', 'GET /api2/ping/more', '', 404, unknown],
    ['knows no unknown path for any method', 'POST /api2/nothing/', '', 404, unknown],
    ['takes anything behind a prefix', 'POST /api2/auth-token/what/ever', '', 200, null],
    ['takes a prefix alone', 'POST /api2/auth-token', '', 200, null],
    [
      'names the method it does not allow',
      'PATCH /api2/ping/',
      '',
      405,
      { detail: 'Method "PATCH" not allowed.' },
    ],
    [
      'allows no method the path lacks',
      'PUT /api2/repos/5/dir',
      '',
      405,
      { detail: 'Method "PUT" not allowed.' },
    ],
    [
      'knows methods of other protocols',
      'PROPFIND /api2/ping/',
      '',
      405,
      { detail: 'Method "PROPFIND" not allowed.' },
    ],
    ['answers OPTIONS', 'OPTIONS /api2/ping/', '', 200, { methods: ['GET', 'HEAD', 'OPTIONS'] }],
    ['answers OPTIONS of unknown paths as unknown', 'OPTIONS /api2/nothing/', '', 404, unknown],
    ['wants credentials', 'GET /api2/repos/5/dir/', '', 403, missing],
    ['wants credentials before it looks at the path', 'GET /api2/repos/x/dir/', '', 403, missing],
    ['knows no other scheme', 'GET /api2/repos/5/dir/', 'Basic YTpi', 403, missing],
    [
      'wants a token in the header',
      'GET /api2/repos/5/dir/',
      'Token',
      401,
      { detail: 'Invalid token header. No credentials provided.' },
    ],
    [
      'wants one token',
      'GET /api2/repos/5/dir/',
      'Token a b',
      401,
      { detail: 'Invalid token header. Token string should not contain spaces.' },
    ],
    ['wants a token it knows', 'GET /api2/repos/5/dir/', 'Token nobody', 401, { detail: 'Invalid token' }],
    [
      'wants an account that exists',
      'GET /api2/repos/5/dir/',
      'Token deleted',
      401,
      { detail: 'User inactive or deleted' },
    ],
    ['wants an active account', 'GET /api2/repos/5/dir/', 'Token inactive', 403, missing],
    [
      'tells a device to wipe itself',
      'GET /api2/repos/5/dir/',
      'Token wiped',
      401,
      { detail: 'Device set to be remote wiped' },
    ],
    ['lets administrators in', 'GET /api2/admin/', 'Token root', 200, 'root@example.org'],
    [
      'keeps others out',
      'GET /api2/admin/',
      'Token ann',
      403,
      { detail: 'You do not have permission to perform this action.' },
    ],
    [
      'prefers a path spelled out to a segment',
      'DELETE /api2/repos/batch/',
      'Token ann',
      400,
      { error_msg: 'name invalid.' },
    ],
  ]
  for (const [about, line, authorization, status, body] of cases) {
    it(about, async () => {
      const [method = '', path = ''] = line.split(' ')
      const reply = await server.call(method, path, {
        headers: authorization === '' ? {} : { authorization },
      })
      assert.deepEqual([reply.status, JSON.parse(reply.text)], [status, body])
      assert.equal(reply.headers['content-type'], json)
      assert.equal(Number(reply.headers['content-length']), Buffer.byteLength(reply.text))
      assert.equal(reply.headers['x-content-type-options'], 'nosniff')
      assert.equal(reply.headers.location, undefined)
      if (status === 405 || method === 'OPTIONS')
        assert.equal(reply.headers.allow === undefined, status === 404)
      if (authorization === 'Token wiped') assert.equal(reply.headers['x-seafile-wiped'], 'true')
    })
  }

  it('answers HEAD like GET, without the body', async () => {
    const reply = await server.call('HEAD', '/api2/ping')
    assert.deepEqual([reply.status, reply.headers['content-length'], reply.text], [200, '7', ''])
    assert.equal((await server.call('HEAD', '/api2/nothing')).status, 404)
    assert.equal((await server.call('HEAD', '/api2/repos/5/dir')).status, 403)
  })

  it('lists in Allow what a path has', async () => {
    const reply = await server.call('PUT', '/api2/repos/5/dir/')
    assert.equal(reply.headers.allow, 'GET, HEAD, OPTIONS, POST')
  })

  it('reads a request line with an absolute URL', async () => {
    const reply = await server.send(
      'GET http://a/api2/repos/7/?x=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    )
    assert.match(reply, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n7$/)
  })

  it('lists its endpoints for the docs', () => {
    const { endpoints } = server.server
    assert.deepEqual(endpoints[1], {
      method: 'GET',
      path: '/api2/repos/:id/dir/',
      auth: 'user',
      scope: 'none',
      summary: 'Lists a folder.',
      bodyLimit: 1024 * 1024,
      reads: ['id', 'p', 'page', 'recursive'],
    })
    const own = ['/.well-known/security.txt', '/healthz', '/readyz', '/metrics']
    assert.deepEqual(endpoints.map(({ path }) => path).slice(-4), own)
    assert.equal(endpoints.length, routes.length + 4)
  })

  describe('with a body', () => {
    const form = 'application/x-www-form-urlencoded'
    const part = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const multipart = `${part('name', 'Nötes')}${part('tag', 'a')}${part('tag', 'b')}--b--\r\n`
    const bodies: [contentType: string, body: string][] = [
      [form, 'name=N%C3%B6tes&tag=a&tag=b'],
      ['application/json', '{"name": "Nötes", "tag": ["a", "b"]}'],
      ['multipart/form-data; boundary=b', multipart],
      ['', 'name=N%C3%B6tes&tag=a&tag=b'],
    ]
    for (const [type, body] of bodies) {
      it(`takes ${type || 'one without a type'}, at once or in chunks`, async () => {
        const headers = { ...asAnn, ...(type === '' ? {} : { 'content-type': type }) }
        const whole = await server.call('POST', '/api2/repos/5/dir/', { headers, body })
        assert.deepEqual(JSON.parse(whole.text), { name: 'Nötes', tag: ['a', 'b'] })
        const bytes = Buffer.from(body)
        const chunks = [bytes.subarray(0, 3), bytes.subarray(3, 15), bytes.subarray(15), Buffer.alloc(0)]
        const head = Object.entries({
          ...headers,
          host: 'a',
          connection: 'close',
          'transfer-encoding': 'chunked',
        })
        const pieces = chunks.flatMap((chunk) => [`${chunk.length.toString(16)}\r\n`, chunk, '\r\n'])
        const text = [
          'POST /api2/repos/5/dir/ HTTP/1.1\r\n',
          ...head.map(([name, value]) => `${name}: ${value}\r\n`),
          '\r\n',
        ]
        const reply = await server.send(
          Buffer.concat([...text, ...pieces].map((piece) => Buffer.from(piece))),
        )
        assert.match(reply, /\r\n\r\n\{"name":"Nötes","tag":\["a","b"\]\}$/)
      })
    }

    it('takes one with DELETE', async () => {
      const headers = { ...asAnn, 'content-type': 'application/json' }
      const reply = await server.call('DELETE', '/api2/repos/batch/', {
        headers,
        body: '{"name": ["a", "b"]}',
      })
      assert.deepEqual([reply.status, reply.text], [200, '["a","b"]'])
    })

    it('takes an empty one of any type', async () => {
      for (const type of ['application/json', 'text/plain', 'nonsense', 'multipart/form-data']) {
        const reply = await server.call('POST', '/api2/auth-token/', {
          headers: { 'content-type': type },
          body: '',
        })
        assert.deepEqual([reply.status, reply.text], [200, 'null'])
      }
    })

    it('gives GET no body to read', async () => {
      const reply = await server.call('GET', '/api2/ping/', {
        headers: { 'content-type': 'text/plain' },
        body: 'x',
      })
      assert.equal(reply.status, 200)
    })

    const refused: [
      about: string,
      headers: Record<string, string>,
      body: string | Buffer,
      status: number,
      detail: RegExp,
    ][] = [
      [
        'another type',
        { 'content-type': 'text/csv' },
        'a,b',
        415,
        /^Unsupported media type "text\/csv" in request\.$/,
      ],
      ['a type that is none', { 'content-type': '"' }, 'a', 415, /^Unsupported media type """ in request\.$/],
      ['a form called JSON', { 'content-type': 'application/json' }, 'name=a', 400, /^JSON parse error - ./],
      [
        'a form called multipart',
        { 'content-type': 'multipart/form-data; boundary=b' },
        'name=a',
        400,
        /^Multipart form parse error - ./,
      ],
      [
        'too many bytes',
        { 'content-type': form },
        Buffer.alloc(1024 * 1024 + 1, 'a'),
        413,
        /^Request body is too large\.$/,
      ],
      [
        'too many names',
        { 'content-type': form },
        'a&'.repeat(20_001),
        400,
        /^Too many fields in request\.$/,
      ],
    ]
    for (const [about, headers, body, status, detail] of refused) {
      it(`refuses ${about}`, async () => {
        const reply = await server.call('POST', '/api2/repos/5/dir/', {
          headers: { ...asAnn, ...headers },
          body,
        })
        assert.equal(reply.status, status)
        assert.match((JSON.parse(reply.text) as { detail: string }).detail, detail)
      })
    }

    it('finds no name in JSON sent as a form', async () => {
      const headers = { ...asAnn, 'content-type': form }
      const reply = await server.call('POST', '/api2/repos/5/dir/', { headers, body: '{"name": "a"}' })
      assert.deepEqual([reply.status, reply.text], [400, '{"error_msg":"name invalid."}'])
    })

    it('takes as many names as a batch needs', async () => {
      const headers = { ...asAnn, 'content-type': form }
      const body = Array.from({ length: 10_000 }, (_, n) => `name=file+${n}`).join('&')
      const reply = await server.call('DELETE', '/api2/repos/batch/', { headers, body })
      assert.equal((JSON.parse(reply.text) as string[]).length, 10_000)
    })

    it('does not read it before the caller is known', async () => {
      const body = Buffer.alloc(2 * 1024 * 1024)
      const reply = await server.call('POST', '/api2/repos/5/dir/', {
        headers: { 'content-type': 'x/y' },
        body,
      })
      assert.equal(reply.status, 403)
    })
  })
})

it('lets a handler see the fields as sent', async () => {
  const seen: Fields[] = []
  const echo = route({
    method: 'PUT',
    path: '/echo/',
    auth: 'none',
    summary: 'Echoes.',
    bodyLimit: 20,
    handle({ request }) {
      seen.push(request.queryFields, request.bodyFields)
      return 'ok'
    },
  })
  await using server = await serve([echo])
  const headers = { 'content-type': 'application/json' }
  assert.equal((await server.call('PUT', '/echo?p=%ff&p=b', { headers, body: '[{"a": 1}]' })).status, 200)
  assert.deepEqual(seen[0]?.all('p'), ['\udcff', 'b'])
  assert.deepEqual(seen[1]?.json, [{ a: 1 }])
  assert.equal((await server.call('PUT', '/echo', { headers, body: '[{"a": 1}]           ' })).status, 413)
  assert.equal(seen.length, 2)
})

describe('a request that is answered before its handler has ended', () => {
  it('keeps its operation and its body until then, and its late response is released', async () => {
    const goOn = Promise.withResolvers<void>()
    const seen: string[] = []
    const released = Promise.withResolvers<void>()
    const routes = [
      route({
        method: 'POST',
        path: '/api2/late/',
        auth: 'none',
        summary: 'Takes long.',
        async handle({ request }) {
          await goOn.promise
          seen.push(request.bodyFields === Fields.none ? 'no body' : 'body')
          return new HttpResponse(200, {}, 'late', () => {
            seen.push('response released')
            released.resolve()
          })
        },
      }),
    ]
    const ended = Promise.withResolvers<void>()
    const operation = {
      run: <T>(work: () => T) => work(),
      [Symbol.dispose]: () => {
        seen.push('operation over')
        ended.resolve()
      },
    }
    await using server = await serve(routes, {
      beginOperation: () => operation as Operation,
      inRequest: <T>(handle: () => T) =>
        Promise.reject(new Overdue(new Error('too late'), handle() as Promise<unknown>)) as T,
      faultOf: () => ({ code: 'outcome-unknown' }),
    })
    const body = 'name=ann'
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { status, text } = await server.call('POST', '/api2/late/', { headers, body })
    assert.deepEqual([status, text.includes('outcome-unknown')], [400, true])
    assert.deepEqual(seen, [])
    goOn.resolve()
    await Promise.all([released.promise, ended.promise])
    assert.deepEqual(seen, ['body', 'response released', 'operation over'])
  })
})
