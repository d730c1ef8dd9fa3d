import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http, { type IncomingMessage } from 'node:http'
import { connect as connectHttp2, constants } from 'node:http2'
import https from 'node:https'
import { connect, type Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { type ChildServer, type ChildServerOptions, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { ADMIN } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { testCertificates } from '../support/test-certificates.ts'

const MB = 1_000_000
const METRICS_TOKEN = 'a-token-for-prometheus'

/** A separate server, whose process these tests try to crash. */
async function attacked(
  env: Record<string, string>,
  attack: (server: ChildServer) => Promise<void>,
  options: ChildServerOptions = {},
): Promise<void> {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-limits-'))
  try {
    await using server = await spawnServer(data, { CARREL_METRICS_TOKEN: METRICS_TOKEN, ...env }, options)
    await attack(server)
    assert.equal(server.process.exitCode, null, 'the process ended')
    assert.equal(server.process.signalCode, null, 'the process was killed')
    assert.equal(await ping(server), '"pong"')
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

/** The answer of the server, whatever its certificate. */
async function ping({ url }: ChildServer): Promise<string> {
  const { get } = url.startsWith('https:') ? https : http
  const sent = get(`${url}/api2/ping/`, { rejectUnauthorized: false, agent: false })
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  return text(reply)
}

async function open(server: ChildServer): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Resolves when everything was sent, or the server closed the connection. */
function write(socket: Socket, bytes: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve())
    socket.write(bytes, () => resolve())
  })
}

async function answerOf(socket: Socket): Promise<string> {
  const [heard] = (await once(socket, 'data')) as [Buffer]
  return String(heard)
}

describe('a server with little memory', () => {
  it('survives bodies in chunks of one byte', { timeout: 120_000 }, async () => {
    await attacked({ NODE_OPTIONS: '--max-old-space-size=160' }, async (server) => {
      const chunks = Buffer.from('1\r\n \r\n'.repeat(2 ** 20 - 10))
      const head = 'Host: a\r\nTransfer-Encoding: chunked\r\n\r\n'
      const sockets = await Promise.all(Array.from({ length: 6 }, () => open(server)))
      await Promise.all(
        sockets.map((socket) => {
          socket.resume()
          return write(
            socket,
            Buffer.concat([Buffer.from(`POST /seafhttp/repo/locked-files HTTP/1.1\r\n${head}`), chunks]),
          )
        }),
      )
      assert.equal((await new Client(server.url).get('/api2/ping/')).text, '"pong"')
      for (const socket of sockets) socket.destroy()
    })
  })

  it('buffers received objects within its budget, and rejects others with a retry', {
    timeout: 120_000,
  }, async () => {
    await attacked({ CARREL_BODY_MEMORY_MB: '64' }, async (server) => {
      const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
      const sync = await SyncClient.link(client, await client.createLibrary())
      const size = 15 * MB
      const packet = Buffer.alloc(44 + size)
      packet.write('a'.repeat(40), 'latin1')
      packet.writeUInt32BE(size, 40)
      const before = await residentBytes(server)
      const push = async () => {
        const socket = await open(server)
        const head = `Host: a\r\nSeafile-Repo-Token: ${sync.token}\r\nContent-Length: ${packet.length}\r\n\r\n`
        socket.write(`POST /seafhttp/repo/${sync.library}/recv-fs/ HTTP/1.1\r\n${head}`)
        socket.write(packet.subarray(0, -1))
        return { socket, answer: answerOf(socket) }
      }
      const pushes = await Promise.all(Array.from({ length: 8 }, push))
      const refused = new Set<(typeof pushes)[number]>()
      while (refused.size < 7) {
        const waiting = pushes.filter((one) => !refused.has(one))
        const next = await Promise.race(waiting.map(async (one) => ({ one, answer: await one.answer })))
        assert.match(next.answer, /^HTTP\/1\.1 503 [^]*Retry-After: \d+\r\n/)
        refused.add(next.one)
      }
      const growth = (await residentBytes(server)) - before
      assert.ok(growth < 150 * MB, `it grew by ${Math.round(growth / MB)} MB`)
      const [held] = pushes.filter((one) => !refused.has(one))
      held?.socket.write(packet.subarray(-1))
      // It is not valid zlib data, which is the only error in it.
      assert.match((await held?.answer) ?? '', /^HTTP\/1\.1 400 /)
      const later = await push()
      later.socket.write(packet.subarray(-1))
      assert.match(await later.answer, /^HTTP\/1\.1 400 /)
      for (const { socket } of [...pushes, later]) socket.destroy()
    })
  })
})

describe('a server with few descriptors', () => {
  it('answers 503 before they run out, and recovers when connections have closed', {
    timeout: 60_000,
  }, async () => {
    const attack = async (server: ChildServer) => {
      const sockets = await Promise.all(Array.from({ length: 200 }, () => open(server)))
      const answers = await Promise.all(
        sockets.map(async (socket) => {
          socket.write('GET /api2/ping/ HTTP/1.1\r\nHost: a\r\n\r\n')
          const heard = await Promise.race([answerOf(socket), once(socket, 'close')]).catch(() => '')
          return /^HTTP\/1\.1 (\d+)/.exec(String(heard))?.[1] ?? 'closed'
        }),
      )
      const count = (status: string) => answers.filter((answer) => answer === status).length
      assert.ok(count('200') >= 32, `${count('200')} were answered`)
      // Connections that cannot be answered without running out of descriptors are closed.
      assert.ok(count('503') > 0 && count('200') + count('503') + count('closed') === 200, answers.join(' '))
      // Connected clients are still served, including files.
      const held = sockets[answers.indexOf('200')]
      held?.write('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n')
      assert.match(held === undefined ? '' : await answerOf(held), /^HTTP\/1\.1 200 /)
      for (const socket of sockets) socket.destroy()
      let answer = ''
      while (!answer.startsWith('HTTP/1.1 200 ')) {
        const socket = await open(server)
        socket.write('GET /api2/ping/ HTTP/1.1\r\nHost: a\r\n\r\n')
        answer = await answerOf(socket).catch(() => '')
        socket.destroy()
      }
    }
    await attacked({}, attack, { openFiles: 128 })
  })
})

describe('a server with rate limits', () => {
  it('looks at a bounded number of wrong WebDAV credentials of one address', {
    timeout: 60_000,
  }, async () => {
    await attacked({ CARREL_RATE_LIMIT: 'on' }, async (server) => {
      const call = 'PROPFIND /dav/ HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\n'
      const socket = await open(server)
      socket.write(`${call}\r\n`.repeat(6500))
      socket.end(`${call}Connection: close\r\n\r\n`)
      const answers = (await text(socket)).match(/(?<=HTTP\/1\.1 )\d+/g) ?? []
      assert.equal(answers.length, 6501)
      assert.equal(answers.filter((status) => status === '401').length, 6000)
      assert.equal(answers.at(-1), '429')
    })
  })
})

describe('a server with a certificate', () => {
  it('does nothing for HTTP/2 streams that are reset at once', { timeout: 60_000 }, async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-certificate-'))
    const [CARREL_TLS_CERT, CARREL_TLS_KEY] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')]
    await writeFile(CARREL_TLS_CERT, testCertificates.one.certificate)
    await writeFile(CARREL_TLS_KEY, testCertificates.one.key)
    await attacked({ CARREL_TLS_CERT, CARREL_TLS_KEY }, async (server) => {
      const options = { rejectUnauthorized: false }
      for (let connection = 0; connection < 3; connection += 1) {
        const session = connectHttp2(server.url, options)
        session.on('error', () => {})
        await once(session, 'remoteSettings')
        for (let count = 0; count < 2000 && !session.destroyed && !session.closed; count += 1) {
          const stream = session.request({ ':path': '/api2/ping/' })
          stream.on('error', () => {})
          stream.close(constants.NGHTTP2_CANCEL)
          if (count % 100 === 0) assert.equal(await ping(server), '"pong"')
        }
        session.destroy()
      }
      const session = connectHttp2(server.url, options)
      const headers = { ':path': '/metrics', authorization: `Bearer ${METRICS_TOKEN}` }
      const metrics = await text(session.request(headers))
      session.destroy()
      const counts = [
        ...metrics.matchAll(/^carrel_http_requests_total\{route="\/api2\/ping\/"[^}]*\} (\d+)$/gm),
      ]
      const requests = counts.reduce((sum, [, count]) => sum + Number(count), 0)
      assert.ok(requests > 0 && requests < 1000, `${requests} requests were served`)
    })
    await rm(folder, { recursive: true })
  })
})

async function residentBytes({ url }: ChildServer): Promise<number> {
  const metrics = await new Client(url, METRICS_TOKEN).get('/metrics')
  const [, bytes] =
    /^carrel_process_resident_memory_bytes (\S+)$/m.exec(metrics.text) ?? assert.fail(metrics.text)
  return Number(bytes)
}
