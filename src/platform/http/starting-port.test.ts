import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { request as requestHttps } from 'node:https'
import net, { type Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import tls from 'node:tls'
import { pino } from 'pino'
import { testCertificates } from '../../../test/support/test-certificates.ts'
import { createMetrics } from './metrics.ts'
import { createHttpServer, type TransportSetting } from './server.ts'
import { StartingPort } from './starting-port.ts'

const anywhere = { host: '127.0.0.1', port: 0 }

async function ask(
  port: number,
  path: string,
  { body, isTls = false }: { body?: string; isTls?: boolean } = {},
) {
  const options = { port, path, method: body === undefined ? 'GET' : 'POST', agent: false as const }
  const sent = isTls ? requestHttps({ ...options, rejectUnauthorized: false }) : request(options)
  sent.end(body)
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: reply.statusCode, headers: reply.headers, text: await text(reply) }
}

function freshServer(transport: TransportSetting = { kind: 'fast' }) {
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
    transport,
  })
}

/** The transports, and how a client connects. */
const kinds = {
  'our own implementation of HTTP': { kind: 'fast', isTls: false },
  'that of Node': { kind: 'node', isTls: false },
  'a certificate': { kind: 'node', isTls: true },
} as const

async function certificateIn(folder: string) {
  const files = { certificate: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') }
  const [{ certificate, key }] = Object.values(testCertificates) as [{ certificate: string; key: string }]
  await Promise.all([writeFile(files.certificate, certificate), writeFile(files.key, key)])
  return files
}

describe('the port of a server that starts', () => {
  for (const [what, { kind, isTls }] of Object.entries(kinds)) {
    it(`answers probes, and passes other requests on when the server can serve, with ${what}`, async () => {
      await using opened = new AsyncDisposableStack()
      const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-starting-port-'))
      opened.defer(() => rm(folder, { recursive: true, force: true }))
      const certificate = isTls ? await certificateIn(folder) : undefined
      const starting = opened.use(await StartingPort.open(anywhere, { certificate }))
      const { port } = starting.address
      const connect = async (): Promise<Socket> => {
        const socket = isTls ? tls.connect({ port, rejectUnauthorized: false }) : net.connect(port)
        await once(socket, isTls ? 'secureConnect' : 'connect')
        return socket
      }
      const ready = await ask(port, '/readyz', { isTls })
      assert.equal(ready.status, 503)
      assert.deepEqual(JSON.parse(ready.text), { status: 'starting', reason: 'The server is starting.' })
      assert.deepEqual(
        [(await ask(port, '/healthz', { isTls })).status, ready.headers.connection],
        [200, 'close'],
      )

      // A request that is complete, one whose line is not, and a connection without a byte.
      const complete = ask(port, '/unknown', { body: 'x'.repeat(100_000), isTls })
      const [begun, silent] = [await connect(), await connect()]
      begun.write('GET /rea')
      // One whose handshake begins during the start, if there is one.
      const raw = net.connect(port)
      await once(raw, 'connect')
      const gone = net.connect({ port, allowHalfOpen: true })
      gone.end()
      // A handshake has a time limit instead.
      if (isTls) gone.destroy()
      else await once(gone.resume(), 'end')
      // Answered after the others were accepted.
      assert.equal((await ask(port, '/readyz', { isTls })).status, 503)

      const server = opened.use(freshServer(kind === 'fast' ? { kind } : { kind, certificate }))
      assert.equal((await server.listen({ ...anywhere, source: starting })).port, port)
      assert.equal((await complete).status, 404)
      const late = isTls ? tls.connect({ socket: raw, rejectUnauthorized: false }) : raw
      begun.write('dyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      for (const socket of [silent, late])
        socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      for (const socket of [begun, silent, late]) assert.match(await text(socket), /^HTTP\/1\.1 200 /)
      assert.equal((await ask(port, '/readyz', { isTls })).status, 200)
      await server.close()
      await assert.rejects(ask(port, '/readyz', { isTls }), /ECONNREFUSED/)
    })
  }

  it('answers requests with 503 when the start takes too long', async () => {
    await using starting = await StartingPort.open(anywhere, { maxWaitMs: 1 })
    const reply = await ask(starting.address.port, '/api2/ping/', { body: 'x'.repeat(100_000) })
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
