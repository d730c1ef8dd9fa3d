import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describeTransports, route } from '../../../test/support/http-server.ts'
import { rawText } from '../input/readers.ts'
import { errorMessage } from '../responses/refusal.ts'
import { rawResponse } from '../responses/response.ts'

const echo = route({
  method: 'POST',
  path: '/echo/:way',
  auth: 'none',
  summary: 'A test.',
  params: { way: rawText() },
  body: 'raw',
  async handle({ params, body }) {
    if (params.way === 'refuse') throw errorMessage(443, 'Out of quota.')
    const hash = createHash('sha1')
    for (let piece = await body.read(params.way === 'lent'); piece !== undefined; ) {
      hash.update(piece)
      if (params.way === 'late') await nextTurn()
      piece = await body.read(params.way === 'lent')
    }
    return hash.digest('hex')
  },
})

const quick = route({
  method: 'GET',
  path: '/quick',
  auth: 'none',
  summary: 'A test.',
  handle: () => 'quick',
})
const streamed = route({
  method: 'GET',
  path: '/streamed',
  auth: 'none',
  summary: 'A test.',
  handle() {
    const pieces = ['a', 'b', ''].map((piece) => Buffer.from(piece))
    return rawResponse({
      body: {
        next: async () => {
          const value = pieces.shift()
          return value === undefined ? { done: true, value } : { done: false, value }
        },
        return: async () => {},
      },
    })
  },
})
const routes = [echo, quick, streamed]
const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex')

/** Seeded random numbers. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function chunked(bytes: Buffer, random: (below: number) => number): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + 1 + random(70_000))
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
    at += piece.length
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

/** Many pipelined requests, and the expected response bodies. */
function conversation(seed: number): { bytes: Buffer; answers: string[] } {
  const random = numbers(seed)
  const sent: Buffer[] = []
  const answers: string[] = []
  for (let n = 0; n < 30; n += 1) {
    const kind = random(4)
    if (kind === 0) {
      sent.push(Buffer.from('GET /quick HTTP/1.1\r\nHost: a\r\n\r\n'))
      answers.push('"quick"')
      continue
    }
    const body = Buffer.alloc([0, 1, 3000, 300_000][random(4)] ?? 0, String(seed + n))
    const way = ['lent', 'kept', 'late', 'refuse'][random(4)]
    const framing = kind === 1 ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
    sent.push(Buffer.from(`POST /echo/${way} HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`))
    sent.push(kind === 1 ? chunked(body, random) : body)
    answers.push(way === 'refuse' ? '{"error_msg":"Out of quota."}' : JSON.stringify(sha1(body)))
    // A refused body of unknown length ends the connection.
    if (way === 'refuse' && kind === 1) break
  }
  return { bytes: Buffer.concat(sent), answers }
}

function bodiesOf(heard: string): string[] {
  const bodies: string[] = []
  for (let rest = heard; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n') + 4
    const length = Number(/^Content-Length: (\d+)\r$/m.exec(rest.slice(0, end))?.[1])
    bodies.push(rest.slice(end, end + length))
    rest = rest.slice(end + length)
  }
  return bodies
}

/** Reads until the received text matches `pattern`. */
async function hears(socket: Socket, pattern: RegExp): Promise<string> {
  let heard = ''
  while (!pattern.test(heard)) heard += String((await once(socket, 'data'))[0])
  return heard
}

describeTransports('a connection', (serve) => {
  for (let seed = 1; seed <= 12; seed += 1) {
    it(`answers request after request, however they arrive (${seed})`, async () => {
      await using server = await serve(routes)
      const { bytes, answers } = conversation(seed)
      const random = numbers(seed + 100)
      const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true })
      const heard = text(socket)
      for (let at = 0; at < bytes.length; ) {
        const size = [1, 20, 1500, 200_000][random(4)] ?? 1
        // The server has closed the connection and ignores the rest.
        if (!socket.writable) break
        await new Promise<void>((resolve) => socket.write(bytes.subarray(at, at + size), () => resolve()))
        at += size
      }
      if (socket.writable) socket.write('GET /quick HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      const got = bodiesOf(await heard)
      assert.deepEqual(got.slice(0, answers.length), answers)
    })
  }

  it('answers a thousand requests that came at once, in their order', async () => {
    await using server = await serve(routes)
    const requests = 'GET /quick HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(999)
    const last = 'GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const bodies = bodiesOf(await server.send(requests + last))
    assert.equal(bodies.length, 1000)
    assert.equal(bodies.indexOf('{"error_msg":"Not found."}'), 999)
  })

  it('ends with its answer in HTTP/1.0, unless the client wants to keep it', async () => {
    await using server = await serve(routes)
    const plain = await server.send('GET /quick HTTP/1.0\r\n\r\n')
    assert.match(plain, /^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*\r\n\r\n"quick"$/)
    const kept = 'GET /quick HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n'
    assert.match(
      await server.send(`${kept}GET /quick HTTP/1.0\r\n\r\n`),
      /Connection: keep-alive\r\n[^]*"quick"HTTP\/1\.1 [^]*Connection: close\r\n[^]*"quick"$/,
    )
  })

  it('is the end of a body without a length where there are no chunks', async () => {
    await using server = await serve(routes)
    const kept = 'Connection: keep-alive\r\n\r\n'
    const old = await server.send(`GET /streamed HTTP/1.0\r\n${kept}`)
    assert.match(old, /\r\nConnection: close\r\n/)
    assert.match(old, /\r\n\r\nab$/)
    assert.doesNotMatch(old, /Transfer-Encoding/)
    const close = 'Host: a\r\nConnection: close\r\n\r\n'
    const now = await server.send(`GET /streamed HTTP/1.1\r\n${close}`)
    assert.match(now, /\r\nTransfer-Encoding: chunked\r\n/)
    assert.match(now, /\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n$/)
  })

  it('tells a client that asks for it to go on, when its body is wanted', async () => {
    await using server = await serve(routes)
    const socket = connect(server.port, '127.0.0.1')
    const expect = 'Host: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n'
    socket.write(`POST /echo/kept HTTP/1.1\r\n${expect}`)
    assert.equal(await hears(socket, /\r\n\r\n/), 'HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('abc')
    assert.match(await hears(socket, /"$/), new RegExp(`^HTTP/1\\.1 200 [^]*${sha1(Buffer.from('abc'))}"$`))
    // A client whose body is refused gets no `100 Continue`.
    socket.write(`POST /echo/refuse HTTP/1.1\r\n${expect}`)
    assert.match(await text(socket), /^HTTP\/1\.1 443 [^]*Connection: close\r\n/)
  })

  it('does not tell it where the body came along', async () => {
    await using server = await serve(routes)
    const close = 'Host: a\r\nConnection: close\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n'
    assert.match(await server.send(`POST /echo/kept HTTP/1.1\r\n${close}abc`), /^HTTP\/1\.1 200 /)
  })

  it('answers half a head that ends with 400', async () => {
    await using server = await serve(routes)
    const socket = connect(server.port, '127.0.0.1')
    socket.end('GET /quick HT')
    assert.match(await text(socket), /^HTTP\/1\.1 400 /)
  })

  it('ends when the client ended its side within a pipelined body', async () => {
    const length = 'Host: a\r\nContent-Length: 30\r\n'
    const chunked = 'Host: a\r\nTransfer-Encoding: chunked\r\n'
    for (const part of [
      `POST /echo/kept HTTP/1.1\r\n${length}\r\nabc`,
      `POST /echo/lent HTTP/1.1\r\n${length}\r\nabc`,
      `POST /echo/refuse HTTP/1.1\r\n${length}\r\nabc`,
      `POST /fields HTTP/1.1\r\n${length}\r\nabc`,
      `POST /echo/kept HTTP/1.1\r\n${length}Expect: 100-continue\r\n\r\n`,
      `POST /echo/kept HTTP/1.1\r\n${chunked}\r\n3\r\nabc\r\n`,
    ]) {
      const opened = Promise.withResolvers<string>()
      const gated = { ...quick, path: '/gated', handle: () => opened.promise }
      const fields = { ...quick, method: 'POST', path: '/fields', body: { a: rawText() } } as const
      await using server = await serve([echo, gated, fields])
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
      socket.write('GET /gated HTTP/1.1\r\nHost: a\r\n\r\n')
      socket.end(part)
      // Served after the end of the other connection has arrived.
      await server.call('POST', '/echo/kept', { body: 'abc' })
      opened.resolve('open')
      assert.match(await text(socket), /^HTTP\/1\.1 200 [^]*"open"HTTP\/1\.1 400 [^]*Connection: close\r\n/i)
    }
  })

  it('passes on the bytes that follow an Upgrade request', async () => {
    const heard = Promise.withResolvers<string>()
    await using server = await serve(routes, {
      upgrade: {
        path: '/other',
        take(head, socket, rest) {
          heard.resolve(`${head.method} ${head.headers.one('upgrade')} ${String(rest)}`)
          socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')
        },
      },
    })
    const upgrade = 'Host: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: other\r\n\r\n'
    assert.match(await server.send(`GET /other?x HTTP/1.1\r\n${upgrade}behind`), /^HTTP\/1\.1 101 /)
    assert.equal(await heard.promise, 'GET other behind')
    // At any other path the Upgrade request is ignored.
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`GET /quick HTTP/1.1\r\n${upgrade}`)
    await hears(socket, /^HTTP\/1\.1 200 [^]*"quick"$/)
    socket.destroy()
  })

  it('answers or closes after a refused upgrade that had a body, never neither', async () => {
    await using server = await serve(routes)
    const upgrade = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 1\r\n\r\nx'
    const next = 'GET /quick HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const received = await server.send(`GET /quick HTTP/1.1\r\n${upgrade}${next}`)
    const answers = received.match(/HTTP\/1\.1 200 /g)?.length ?? 0
    assert.ok(answers === 2 || /connection: close/i.test(received), received)
  })
})
