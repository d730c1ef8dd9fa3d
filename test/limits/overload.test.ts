import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { type ChildServer, type ChildServerOptions, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { ADMIN } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'

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
    assert.equal((await new Client(server.url).get('/api2/ping/')).text, '"pong"')
  } finally {
    await rm(data, { recursive: true, force: true })
  }
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

async function residentBytes({ url }: ChildServer): Promise<number> {
  const { text } = await new Client(url, METRICS_TOKEN).get('/metrics')
  const [, bytes] = /^carrel_process_resident_memory_bytes (\S+)$/m.exec(text) ?? assert.fail(text)
  return Number(bytes)
}
