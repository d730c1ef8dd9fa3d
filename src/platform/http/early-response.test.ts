import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { describeTransports, route, testFaults } from '../../../test/support/http-server.ts'
import { rawText } from '../input/readers.ts'
import { errorMessage } from '../responses/refusal.ts'
import { rawResponse } from '../responses/response.ts'
import { ClientDisconnected } from './request.ts'
import { DRAIN_LIMIT } from './transport.ts'

/** Refuses every body, optionally after reading a chunk. */
const refusing = route({
  method: 'POST',
  path: '/refuse/:reads',
  auth: 'none',
  summary: 'A test.',
  params: { reads: rawText() },
  body: 'raw',
  async handle({ params, body }) {
    if (params.reads === 'some') await body.read()
    throw errorMessage(443, 'Out of quota.')
  },
})

const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`

/** Resolves once the received text matches `pattern`. */
async function hears(socket: Socket, pattern: RegExp): Promise<void> {
  let heard = ''
  while (!pattern.test(heard)) heard += String((await once(socket, 'data'))[0])
}

describeTransports('a response to a body that is still coming', (serve) => {
  for (const reads of ['none', 'some']) {
    it(`is sent at once, and the connection goes on when the rest has come (${reads} was read)`, async () => {
      await using server = await serve([refusing])
      const socket = connect(server.port, '127.0.0.1')
      socket.write(`${head(`/refuse/${reads}`, 100_000)}begin`)
      await hears(socket, /^HTTP\/1\.1 443 [^]*\{"error_msg":"Out of quota."\}$/)
      socket.write(Buffer.alloc(100_000 - 5))
      socket.write('GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      assert.match(await text(socket), /^HTTP\/1\.1 404 /)
    })
  }

  it('reaches a client that sends all of a large body first, as proxies do', async () => {
    await using server = await serve([refusing])
    const socket = connect(server.port, '127.0.0.1')
    socket.pause()
    const length = 4 * DRAIN_LIMIT
    socket.write(head('/refuse/none', length))
    const piece = Buffer.alloc(1024 * 1024)
    for (let sent = 0; sent < length; sent += piece.length) {
      await new Promise<void>((resolve, reject) => {
        socket.write(piece, (error) => (error ? reject(error) : resolve()))
      })
    }
    assert.match(await text(socket), /^HTTP\/1\.1 443 [^]*Connection: close\r\n[^]*"Out of quota\."\}$/)
  })

  it('is followed by the end of the connection when the client does not stop sending', async () => {
    await using server = await serve([refusing], { limits: { lingerMs: 300 } })
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {})
    const isClosed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.write(`${head('/refuse/some', 1e12)}begin`)
    await hears(socket, /Connection: close\r\n[^]*\{"error_msg":"Out of quota."\}$/)
    const piece = Buffer.alloc(1024 * 1024)
    while (!socket.destroyed) {
      if (!socket.write(piece)) {
        await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), isClosed])
      }
    }
    await isClosed
  })

  it('does not outlive its client', async () => {
    await using server = await serve([refusing])
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`${head('/refuse/none', 1000)}begin`)
    await hears(socket, /443/)
    socket.destroy()
    await server.server.close()
    assert.equal(server.logged.filter(({ msg }) => msg === 'request').length, 1)
  })
})

describeTransports('the pieces of a body', (serve) => {
  it('end with ClientDisconnected when the sender leaves, and with what the caller throws', async () => {
    const outcomes: unknown[] = []
    const reading = route({
      method: 'POST',
      path: '/read',
      auth: 'none',
      summary: 'A test.',
      body: 'raw',
      async handle({ body, request }) {
        try {
          let length = 0
          for (let piece = await body.read(); piece !== undefined; piece = await body.read()) {
            if (request.headers['x-throws'] !== undefined) throw errorMessage(442, 'Too large.')
            length += piece.length
          }
          return length
        } catch (error) {
          outcomes.push(error)
          throw error
        }
      },
    })
    await using server = await serve([reading])
    assert.equal((await server.call('POST', '/read', { body: Buffer.alloc(300_000) })).text, '300000')
    assert.equal((await server.call('POST', '/read')).text, '0')
    const thrown = await server.call('POST', '/read', { headers: { 'x-throws': '1' }, body: 'x' })
    assert.equal(thrown.status, 442)
    const socket = connect(server.port, '127.0.0.1')
    await new Promise<void>((resolve) => socket.write(`${head('/read', 1000)}begin`, () => resolve()))
    socket.end()
    await once(socket.resume(), 'close')
    await server.server.close()
    assert(outcomes.at(-1) instanceof ClientDisconnected)
    assert.equal(
      server.logged.some(({ level }) => level === 50),
      false,
    )
  })
})

describeTransports('the headers of a surface', (serve) => {
  it('come with every answer, and a path may answer OPTIONS itself', async () => {
    const answering = (method: 'GET' | 'OPTIONS', path: string, handle: () => unknown) =>
      route({ method, path, auth: 'none', summary: 'A test.', handle })
    const broken = () => {
      throw new Error('bug')
    }
    await using server = await serve([], {
      surfaces: [
        {
          routes: [
            answering('GET', '/good', () => 1),
            answering('GET', '/bug', broken),
            answering('OPTIONS', '/good', () => rawResponse({ body: '' })),
          ],
          faults: testFaults,
          headers: { 'Access-Control-Allow-Origin': '*' },
        },
        { routes: [answering('GET', '/other', () => 1)], faults: testFaults },
      ],
    })
    const seen: [number, string | undefined][] = []
    for (const [method, path] of [
      ['GET', '/good'],
      ['GET', '/bug'],
      ['OPTIONS', '/good'],
      ['GET', '/other'],
    ] as const) {
      const reply = await server.call(method, path)
      seen.push([reply.status, reply.headers['access-control-allow-origin']])
    }
    assert.deepEqual(seen, [
      [200, '*'],
      [500, '*'],
      [200, '*'],
      [200, undefined],
    ])
    assert.equal((await server.call('OPTIONS', '/good')).text, '')
  })
})
