import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, it } from 'node:test'
import { describeTransports, route, type TestServer } from '../../../test/support/http-server.ts'
import { map, rawText, required } from '../input/readers.ts'

const routes = [
  route({ method: 'GET', path: '/ping/', auth: 'none', summary: 'Answers.', handle: () => 'pong' }),
  route({
    method: 'POST',
    path: '/form/',
    auth: 'none',
    bodyLimit: 1024 * 1024,
    summary: 'Reads a form.',
    body: { name: required(), __proto__x: rawText() },
    handle: ({ body, request }) => [body.name, request.bodyFields.text('__proto__') ?? null, Object.keys({})],
  }),
  route({
    method: 'GET',
    path: '/file/:name/',
    auth: 'none',
    summary: 'Reads a segment.',
    params: { name: required() },
    query: {
      p: map(rawText(), (sent) => (sent?.isWellFormed() === false ? undefined : (sent ?? '')), 'p invalid.'),
    },
    handle: ({ params, query }) => [params.name, query.p],
  }),
  route({ method: 'POST', path: '/secret/', auth: 'user', summary: 'Needs a token.', handle: () => 'ok' }),
]

describeTransports('hostile input', (serve) => {
  let server: TestServer
  before(async () => {
    server = await serve(routes)
  })
  after(async () => {
    // No unexpected error was logged, and the server still responds.
    assert.equal((await server.call('GET', '/ping/')).text, '"pong"')
    await server.server.close()
    assert.deepEqual(
      server.logged.filter(({ level }) => Number(level) >= 50),
      [],
    )
  })

  const lines: [about: string, bytes: string, status: number][] = [
    ['bytes that are no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400],
    ['a request line of nonsense', 'HELLO\r\n\r\n', 400],
    ['a method that is none', 'PING /ping/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a header without a name', 'GET /ping/ HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n', 400],
    [
      'an upgrade without a host',
      'GET /ping/ HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      400,
    ],
    [
      'an upgrade with an invalid host',
      'GET /ping/ HTTP/1.1\r\nHost: a b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      400,
    ],
    ['a header with NUL', 'GET /ping/ HTTP/1.1\r\nHost: a\r\nX-A: a\0b\r\n\r\n', 400],
    ['a path of raw bytes', 'GET /file/\xff/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    [
      'two lengths',
      'POST /form/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
    ],
    [
      'a length and chunks at once',
      'POST /form/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a length that is none', 'POST /form/ HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n', 400],
    ['a header of 20 KiB', `GET /ping/ HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(20_480)}\r\n\r\n`, 431],
    ['a path of 20 KiB', `GET /${'a'.repeat(20_480)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  ]
  for (const [about, bytes, status] of lines) {
    it(`such as ${about} is answered ${status} and cut off`, async () => {
      const reply = await server.send(Buffer.from(bytes, 'latin1'))
      assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\n\\r\\n\\{"detail":"[^"]+"\\}$`))
    })
  }

  it('such as no Host is answered 400 and cut off', async () => {
    assert.match(await server.send('GET /ping/ HTTP/1.1\r\n\r\n'), /^HTTP\/1\.1 400 /)
  })

  it('behind a good request is never answered in its place', async () => {
    const reply = await server.send('GET /ping/ HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n')
    assert.match(
      reply,
      /^HTTP\/1\.1 200 OK\r\n(?:\S+: .+\r\n)+\r\n"pong"HTTP\/1\.1 400 [^]*Connection: close/,
    )
  })

  it('in place of a chunk ends the connection', async () => {
    const head = 'POST /form/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
    assert.match(await server.send(`${head}xyz\r\n`), /^HTTP\/1\.1 400 /)
  })

  const paths: [path: string, status: number, body: string][] = [
    ['/file/%2e%2e%2f/', 200, '["../",""]'],
    ['/file/a%2Fb/', 200, '["a/b",""]'],
    ['/file/%2541/', 200, '["%41",""]'],
    ['/file/a%00b/', 404, '{"error_msg":"Not found."}'],
    ['/file/%', 404, '{"error_msg":"Not found."}'],
    ['/file/%e4/', 404, '{"error_msg":"Not found."}'],
    ['/file/%c0%af/', 404, '{"error_msg":"Not found."}'],
    ['/file/../ping/', 404, '{"error_msg":"Not found."}'],
    ['//ping/', 404, '{"error_msg":"Not found."}'],
    ['/file/a/?p=100%', 200, '["a","100%"]'],
    ['/file/a/?p=%e4', 400, '{"error_msg":"p invalid."}'],
    ['/file/a/?p=1&p=2', 200, '["a","2"]'],
    ['/file/a/?__proto__=1&constructor=2&p=x', 200, '["a","x"]'],
    ['/file/a/?&&&=&p', 200, '["a",""]'],
    [`/file/a/?${'p=1&'.repeat(3000)}p=last`, 200, '["a","last"]'],
  ]
  for (const [path, status, body] of paths) {
    it(`such as the URL ${path.slice(0, 50)} is answered ${status}`, async () => {
      const reply = await server.call('GET', path)
      assert.deepEqual([reply.status, reply.text], [status, body])
    })
  }

  const form = 'application/x-www-form-urlencoded'
  const bodies: [about: string, type: string, body: string | Buffer, status: number, text: RegExp][] = [
    ['__proto__ in JSON', 'application/json', '{"name": "a", "__proto__": "x"}', 200, /^\["a","x",\[\]\]$/],
    [
      'an object called __proto__',
      'application/json',
      '{"name": "a", "__proto__": {"toString": 1}}',
      200,
      /^\["a",null,\[\]\]$/,
    ],
    ['__proto__ in a form', form, 'name=a&__proto__=x', 200, /^\["a","x",\[\]\]$/],
    [
      'brackets in a form',
      form,
      'name=a&__proto__[x]=1&constructor[prototype][x]=1',
      200,
      /^\["a",null,\[\]\]$/,
    ],
    ['a name that is not UTF-8', form, 'name=%ff', 400, /^\{"error_msg":"name invalid\."\}$/],
    ['a name with NUL', form, 'name=a%00b', 400, /^\{"error_msg":"name invalid\."\}$/],
    [
      'half a character in JSON',
      'application/json',
      '{"name": "\\ud800"}',
      400,
      /^\{"error_msg":"name invalid\."\}$/,
    ],
    [
      'JSON that is not UTF-8',
      'application/json',
      Buffer.from('{"name": "\xff"}', 'latin1'),
      400,
      /JSON parse error/,
    ],
    ['a list for a name', 'application/json', '{"name": [["a"]]}', 400, /^\{"error_msg":"name invalid\."\}$/],
    ['a name twice', form, 'name=a&name=b', 200, /^\["b",/],
    [
      '10,000 names',
      form,
      `${Array.from({ length: 10_000 }, (_, n) => `k${n}=`).join('&')}&name=a`,
      200,
      /^\["a",/,
    ],
    ['300,000 broken escapes', form, `name=a&x=${'%e4'.repeat(300_000)}`, 200, /^\["a",/],
    [
      'deep JSON',
      'application/json',
      `{"name": "a", "x": ${'['.repeat(400_000)}${']'.repeat(400_000)}}`,
      400,
      /JSON parse error/,
    ],
  ]
  for (const [about, type, body, status, expected] of bodies) {
    it(`such as ${about} is answered ${status}`, async () => {
      const reply = await server.call('POST', '/form/', { headers: { 'content-type': type }, body })
      assert.equal(reply.status, status)
      assert.match(reply.text, expected)
    })
  }

  it('such as a body far over the limit is refused without being read', async () => {
    const reply = await server.send(
      'POST /form/ HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\nabc',
    )
    assert.match(
      reply,
      /^HTTP\/1\.1 413 [^]*Connection: close\r\n[^]*\{"detail":"Request body is too large\."\}$/,
    )
  })

  for (const [path, status] of [
    ['/form/', 413],
    ['/secret/', 403],
  ] as const) {
    it(`such as chunks without end is answered ${status} at ${path} and cut off`, async () => {
      const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65536, 'a'), Buffer.from('\r\n')])
      const linesBefore = server.logged.length
      const socket = connect(server.port, '127.0.0.1')
      socket.on('error', () => {}) // The server closes the connection while the client still sends.
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`)
      const flood = () => {
        while (socket.writable && socket.write(chunk));
      }
      socket.on('drain', flood)
      flood()
      socket.resume()
      await new Promise((resolve) => socket.once('close', resolve))
      assert.deepEqual(
        server.logged.slice(linesBefore).map((line) => line.status),
        [status],
      )
    })
  }

  it('leaves the connection usable when a body is only a little too large', async () => {
    const body = Buffer.alloc(1024 * 1024 + 10, 'a')
    const first = `POST /form/ HTTP/1.1\r\nHost: a\r\nContent-Type: ${form}\r\nContent-Length: ${body.length}\r\n\r\n`
    const second = 'GET /ping/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const reply = await server.send(Buffer.concat([Buffer.from(first), body, Buffer.from(second)]))
    assert.match(reply, /^HTTP\/1\.1 413 [^]*HTTP\/1\.1 200 OK[^]*"pong"$/)
  })

  it('cannot split an answer by the method or type it names', async () => {
    const reply = await server.call('POST', '/form/', {
      headers: { 'content-type': 'a/b"\\u000d' },
      body: 'x',
    })
    assert.deepEqual(JSON.parse(reply.text), { detail: 'Unsupported media type "a/b"\\u000d" in request.' })
  })
})
