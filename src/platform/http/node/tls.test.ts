import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { route, serve, type TestServer } from '../../../../test/support/http-server.ts'
import { testCertificates } from '../../../../test/support/test-certificates.ts'
import { errorMessage } from '../../responses/refusal.ts'
import { rawResponse } from '../../responses/response.ts'
import { CertificateError, type CertificateFiles } from './certificate.ts'

const common = { auth: 'none', summary: 'A test.' } as const
const routes = [
  route({ ...common, method: 'GET', path: '/base', handle: ({ request }) => request.baseUrl }),
  route({
    ...common,
    method: 'GET',
    path: '/stream',
    handle: () => rawResponse({ body: { next: chunks(['a', 'b']), return: async () => {} } }),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/length',
    body: 'raw',
    async handle({ body }) {
      let length = 0
      for (let piece = await body.read(); piece !== undefined; piece = await body.read())
        length += piece.length
      return length
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/refuse',
    body: 'raw',
    handle() {
      throw errorMessage(443, 'Out of quota.')
    },
  }),
]

function chunks(texts: readonly string[]) {
  const left = texts.map((one) => Buffer.from(one))
  return async (): Promise<IteratorResult<Buffer, void>> => {
    const value = left.shift()
    return value === undefined ? { done: true, value } : { done: false, value }
  }
}

/** The PEM files of one test. */
async function certificateFiles(): Promise<CertificateFiles & AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), 'carrel-tls-'))
  const files = { certificate: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') }
  await install(files, 'one')
  return { ...files, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

async function install(files: CertificateFiles, which: keyof typeof testCertificates): Promise<void> {
  await writeFile(files.key, testCertificates[which].key)
  await writeFile(files.certificate, testCertificates[which].certificate)
}

function serveTls(certificate: CertificateFiles, limits = {}): Promise<TestServer> {
  return serve(routes, { transport: { kind: 'node', certificate }, limits })
}

/** The common name of the certificate that a new connection gets. */
async function subjectAt(port: number): Promise<string> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  return String(subject.CN)
}

interface Http2Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

async function call(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body?: Buffer,
): Promise<Http2Reply> {
  const stream = session.request(headers, { endStream: body === undefined })
  stream.on('error', () => {})
  if (body !== undefined) stream.end(body)
  const [replied] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  return { status: Number(replied[':status']), headers: replied, text: await text(stream) }
}

describe('a server with a certificate', () => {
  it('serves HTTP/1.1 over TLS, and its links begin with https', async () => {
    await using files = await certificateFiles()
    await using server = await serveTls(files)
    assert.equal(server.url, `https://127.0.0.1:${server.port}`)
    const sent = request({
      port: server.port,
      path: '/base',
      rejectUnauthorized: false,
      agent: false,
      headers: { host: 'files.example.org' },
    }).end()
    const [reply] = (await once(sent, 'response')) as [IncomingMessage]
    assert.equal(await text(reply), '"https://files.example.org"')
  })

  it('tells browsers to stay with HTTPS, also behind a proxy that has the certificate', async () => {
    await using files = await certificateFiles()
    await using server = await serveTls(files)
    const session = connectHttp2(`https://localhost:${server.port}`, { rejectUnauthorized: false })
    for (const path of ['/base', '/none']) {
      const { headers } = await call(session, { ':path': path })
      assert.match(String(headers['strict-transport-security']), /^max-age=\d{8}$/)
    }
    session.destroy()
    await using behind = await serve(routes, { publicUrl: 'https://files.example.org' })
    assert.ok((await behind.call('GET', '/base')).headers['strict-transport-security'])
    await using plain = await serve(routes, { publicUrl: 'http://files.example.org' })
    assert.equal((await plain.call('GET', '/base')).headers['strict-transport-security'], undefined)
  })

  it('serves HTTP/2 with the same routes, headers and errors', async () => {
    await using files = await certificateFiles()
    await using server = await serveTls(files)
    const session = connectHttp2(`https://localhost:${server.port}`, { rejectUnauthorized: false })
    const base = await call(session, { ':path': '/base' })
    assert.equal(base.text, `"https://localhost:${server.port}"`)
    assert.equal(base.headers['x-content-type-options'], 'nosniff')
    assert.ok(base.headers.date)
    assert.equal((await call(session, { ':path': '/stream' })).text, 'ab')
    assert.equal((await call(session, { ':path': '/none' })).status, 404)
    const head = await call(session, { ':path': '/base', ':method': 'HEAD' })
    assert.deepEqual([head.status, head.text], [200, ''])
    const body = Buffer.alloc(3_000_000)
    const post = { ':path': '/length', ':method': 'POST' }
    const sums = await Promise.all([1, 2, 3].map(() => call(session, post, body)))
    assert.deepEqual(
      sums.map((reply) => reply.text),
      ['3000000', '3000000', '3000000'],
    )
    session.destroy()
  })

  it('refuses an HTTP/2 upload without reading it all, and keeps the connection', async () => {
    await using files = await certificateFiles()
    await using server = await serveTls(files)
    const session = connectHttp2(`https://localhost:${server.port}`, { rejectUnauthorized: false })
    const refused = await call(session, { ':path': '/refuse', ':method': 'POST' }, Buffer.alloc(5_000_000))
    assert.deepEqual([refused.status, refused.text], [443, '{"error_msg":"Out of quota."}'])
    assert.equal((await call(session, { ':path': '/base' })).status, 200)
    session.destroy()
  })

  it('finishes open HTTP/2 streams before it stops', async () => {
    await using files = await certificateFiles()
    await using server = await serveTls(files)
    const session = connectHttp2(`https://localhost:${server.port}`, { rejectUnauthorized: false })
    const stream = session.request({ ':path': '/length', ':method': 'POST' })
    stream.write('abc')
    await once(session, 'remoteSettings')
    await call(session, { ':path': '/base' })
    const closed = server.server.close()
    stream.end()
    assert.equal(await text(stream), '3')
    await closed
  })

  it('closes a connection that does not speak TLS', async () => {
    await using files = await certificateFiles()
    await using server = await serveTls(files)
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET /base HTTP/1.1\r\nHost: a\r\n\r\n')
    await new Promise((resolve) => socket.once('close', resolve))
    assert.equal(await subjectAt(server.port), 'one.example')
  })

  it('reloads the certificate when its files change, and keeps the old one if they are unusable', async () => {
    await using files = await certificateFiles()
    await using server = await serveTls(files, { checkMs: 20 })
    assert.equal(await subjectAt(server.port), 'one.example')
    await install(files, 'two')
    while ((await subjectAt(server.port)) !== 'two.example')
      await new Promise((resolve) => setTimeout(resolve, 20))
    const before = server.logged.length
    await writeFile(files.certificate, 'nonsense')
    while (server.logged.length === before) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(server.logged.at(-1)?.level, 50)
    assert.equal(await subjectAt(server.port), 'two.example')
  })

  it('does not start with files that cannot be used', async () => {
    await using files = await certificateFiles()
    const isClear = (error: unknown) =>
      error instanceof CertificateError && error.message.startsWith('Set CARREL_TLS_')
    await assert.rejects(serveTls({ ...files, key: `${files.key}.none` }), isClear)
    await writeFile(files.key, testCertificates.two.key)
    await assert.rejects(serveTls(files), isClear)
  })
})
