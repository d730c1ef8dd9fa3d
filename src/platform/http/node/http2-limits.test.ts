import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type ClientHttp2Session, connect, constants, type SecureClientSessionOptions } from 'node:http2'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import {
  route,
  serve,
  type TestServer,
  type TestServices,
  type TestUser,
} from '../../../../test/support/http-server.ts'
import { testCertificates } from '../../../../test/support/test-certificates.ts'
import type { HttpServerOptions } from '../server.ts'

const CLIENT_PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
/** The payload of RST_STREAM. */
const CANCEL = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])

/** Handlers that have begun, and those that wait until they are released. */
class Handlers {
  begun = 0
  running = 0
  mostRunning = 0
  readonly #waiting: (() => void)[] = []

  readonly routes = [
    route({
      method: 'GET',
      path: '/quick',
      auth: 'none',
      summary: 'A test.',
      handle: () => {
        this.begun += 1
        return 'quick'
      },
    }),
    route({
      method: 'GET',
      path: '/slow',
      auth: 'none',
      summary: 'A test.',
      handle: async () => {
        this.begun += 1
        this.running += 1
        this.mostRunning = Math.max(this.mostRunning, this.running)
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve)
        })
        this.running -= 1
        return 'slow'
      },
    }),
    route({
      method: 'GET',
      path: '/large',
      auth: 'none',
      summary: 'A test.',
      handle: () => {
        this.begun += 1
        return 'x'.repeat(500_000)
      },
    }),
    route({ method: 'POST', path: '/body', auth: 'none', summary: 'A test.', handle: () => 'read' }),
  ]

  release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'carrel-http2-'))
  await writeFile(path.join(folder, 'key.pem'), testCertificates.one.key)
  await writeFile(path.join(folder, 'cert.pem'), testCertificates.one.certificate)
})
after(() => rm(folder, { recursive: true }))

type Limits = HttpServerOptions<TestUser, TestServices>['limits']

/** A server over TLS where this machine is limited like any other client. */
function serveTls(handlers: Handlers, limits: Limits = {}): Promise<TestServer> {
  const certificate = { certificate: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') }
  return serve(handlers.routes, {
    transport: { kind: 'node', certificate },
    limits: { isExempt: () => false, ...limits },
  })
}

/** A client on an address of this machine. */
function open(
  { port }: TestServer,
  from = '127.0.0.1',
  options: SecureClientSessionOptions = {},
): ClientHttp2Session {
  const all = { rejectUnauthorized: false, localAddress: from, ...options }
  const session = connect(`https://127.0.0.1:${port}`, all)
  session.on('error', () => {})
  return session
}

async function statusOf(session: ClientHttp2Session, url = '/quick'): Promise<number> {
  const stream = session.request({ ':path': url })
  stream.on('error', () => {})
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
  stream.resume()
  return Number(headers[':status'])
}

/** The code of the GOAWAY frame that ended a session; undefined if there was none. */
async function ending(session: ClientHttp2Session): Promise<number | undefined> {
  let code: number | undefined
  session.on('goaway', (received) => {
    code ??= received
  })
  if (!session.destroyed) await new Promise((resolve) => session.once('close', resolve))
  return code
}

/** Opens and resets streams, as fast as it can, until the server closes the connection. Resolves to their number. */
async function resetRapidly(raw: RawClient, url: string, most: number): Promise<number> {
  const atOnce = 50
  let sent = 0
  while (sent < most && !raw.isClosed) {
    const pairs = Array.from({ length: atOnce }, (_, index) => {
      const id = 2 * (sent + index) + 1
      return [raw.request(id, url), frame(3, 0, id, CANCEL)]
    })
    await raw.write(Buffer.concat(pairs.flat()))
    sent += atOnce
  }
  return sent
}

describe('an HTTP/2 client that resets its streams', () => {
  it('is told to be calm, and does not evade the limit by connecting again', {
    timeout: 60_000,
  }, async () => {
    const handlers = new Handlers()
    await using server = await serveTls(handlers)
    const perConnection: number[] = []
    for (let connections = 0; connections < 8; connections += 1) {
      const raw = await RawClient.connect(server)
      perConnection.push(await resetRapidly(raw, '/quick', 5000))
      await raw.closed()
      assert.equal(raw.goaway, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    }
    // A client may have written more before it heard of the end.
    assert.ok(
      perConnection.every((sent) => sent < 3000),
      perConnection.join(),
    )
    assert.ok(handlers.begun < 2500, `${handlers.begun} handlers ran`)
    const other = open(server, '127.0.0.2')
    assert.equal(await statusOf(other), 200)
    other.destroy()
  })

  it('has no more running handlers than streams, however many it reset', { timeout: 60_000 }, async () => {
    const handlers = new Handlers()
    await using server = await serveTls(handlers)
    const raw = await RawClient.connect(server)
    for (let id = 1; id < 600 && !raw.isClosed; id += 2) {
      await raw.write(raw.request(id, '/slow'))
      while (handlers.begun < Math.min(100, (id + 1) / 2)) await nextTurn()
      await raw.write(frame(3, 0, id, CANCEL))
    }
    const other = open(server, '127.0.0.2')
    assert.equal(await statusOf(other), 200)
    assert.equal(handlers.mostRunning, 100)
    handlers.release()
    raw.destroy()
    other.destroy()
  })

  it('is counted by what it makes the server reset', async () => {
    const handlers = new Handlers()
    await using server = await serveTls(handlers)
    const raw = await RawClient.connect(server)
    // A WINDOW_UPDATE of 0 is an error of the stream, which the server has to reset.
    const pair = (id: number) => [raw.request(id, '/slow'), frame(8, 0, id, Buffer.alloc(4))]
    let id = 1
    for (; !raw.isClosed && id < 20_000; id += 40) {
      const pairs = Array.from({ length: 20 }, (_, index) => pair(id + 2 * index))
      await raw.write(Buffer.concat(pairs.flat()))
    }
    assert.ok(raw.isClosed, 'the connection is still open')
    assert.ok(id < 3000, `${id / 2} streams were reset`)
    handlers.release()
  })
})

describe('an HTTP/2 client with many streams', () => {
  it('has as many concurrent requests as an HTTP/1 client could have connections', async () => {
    const handlers = new Handlers()
    await using server = await serveTls(handlers, { connectionsPerAddress: 10 })
    const sessions = [open(server), open(server)]
    const running = sessions.flatMap((session) => Array.from({ length: 5 }, () => statusOf(session, '/slow')))
    while (handlers.running < 10) await nextTurn()
    for (const session of sessions) assert.equal(await statusOf(session), 429)
    const other = open(server, '127.0.0.2')
    assert.equal(await statusOf(other), 200)
    handlers.release()
    assert.deepEqual(new Set(await Promise.all(running)), new Set([200]))
    assert.equal(await statusOf(open(server)), 200)
    for (const session of [...sessions, other]) session.destroy()
  })

  it('that never opens their windows loses them, even if it sends PINGs', async () => {
    const handlers = new Handlers()
    await using server = await serveTls(handlers, { rateWindowMs: 100, checkMs: 20 })
    const session = open(server, '127.0.0.1', { settings: { initialWindowSize: 0 } })
    const pings = setInterval(() => session.destroyed || session.ping(() => {}), 10)
    const codes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const stream = session.request({ ':path': '/large' })
        stream.on('error', () => {})
        await new Promise((resolve) => stream.once('close', resolve))
        return stream.rstCode
      }),
    )
    clearInterval(pings)
    assert.deepEqual(new Set(codes), new Set([constants.NGHTTP2_CANCEL]))
    assert.equal(handlers.begun, 20)
    session.destroy()
  })

  it('reads slowly but steadily, and gets all of it', async () => {
    const handlers = new Handlers()
    await using server = await serveTls(handlers, { rateWindowMs: 300, checkMs: 20 })
    const session = open(server)
    const stream = session.request({ ':path': '/large' })
    let bytes = 0
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length
      stream.pause()
      setTimeout(() => stream.resume(), 5)
    })
    await once(stream, 'end')
    assert.equal(bytes, 500_002)
    session.destroy()
  })
})

describe('an HTTP/2 connection without requests', () => {
  it('is closed, even if it sends PINGs', async () => {
    await using server = await serveTls(new Handlers(), { keepAliveMs: 100, checkMs: 20 })
    const session = open(server)
    const pings = setInterval(() => session.destroyed || session.closed || session.ping(() => {}), 10)
    assert.equal(await ending(session), constants.NGHTTP2_NO_ERROR)
    clearInterval(pings)
  })
})

describe('a flood of HTTP/2 frames', () => {
  const settings = () => frame(4, 0, 0, Buffer.alloc(0))
  const floods: Record<string, (raw: RawClient) => { begin: Buffer; repeat: Buffer }> = {
    'of empty DATA': (raw) => ({
      begin: raw.request(1, '/body', 'POST'),
      repeat: frame(0, 0, 1, Buffer.alloc(0)),
    }),
    'of CONTINUATION': (raw) => ({
      begin: frame(1, 0, 1, raw.head('/quick', 'GET')),
      repeat: frame(9, 0, 1, Buffer.alloc(0)),
    }),
    'of PING that is not read': () => ({ begin: settings(), repeat: frame(6, 0, 0, Buffer.alloc(8)) }),
    'of SETTINGS that is not read': () => ({ begin: settings(), repeat: settings() }),
    'of streams beyond the limit': (raw) => {
      let id = 1
      const next = () => raw.request((id += 2) - 2, '/slow')
      return {
        begin: Buffer.concat(Array.from({ length: 100 }, next)),
        get repeat() {
          return next()
        },
      }
    },
  }
  for (const [name, of] of Object.entries(floods)) {
    it(`${name} closes its connection`, { timeout: 60_000 }, async () => {
      const handlers = new Handlers()
      await using server = await serveTls(handlers)
      const raw = await RawClient.connect(server, !name.includes('not read'))
      const flood = of(raw)
      const atOnce = name.includes('not read') ? 10_000 : 100
      await raw.write(flood.begin)
      let frames = 0
      while (!raw.isClosed && frames < 5_000_000) {
        await raw.write(Buffer.concat(Array.from({ length: atOnce }, () => flood.repeat)))
        frames += atOnce
      }
      assert.ok(raw.isClosed, `${frames} frames were accepted`)
      assert.ok(handlers.begun <= 100, `${handlers.begun} handlers ran`)
      handlers.release()
      const other = open(server)
      assert.equal(await statusOf(other), 200)
      other.destroy()
    })
  }
})

/** One frame (RFC 9113, 4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Writes frames by hand. */
class RawClient {
  isClosed = false
  readonly #socket: TLSSocket
  /** The end of what was received. */
  #heard = Buffer.alloc(0)
  #onClosed = () => {}

  constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('error', () => {})
    const onClosed = () => {
      this.isClosed = true
      this.#onClosed()
    }
    socket.once('close', onClosed).once('end', onClosed)
  }

  static async connect({ port }: TestServer, reads = true): Promise<RawClient> {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    await once(socket, 'secureConnect')
    const client = new RawClient(socket)
    if (reads) socket.on('data', (bytes: Buffer) => client.#hear(bytes))
    socket.write(Buffer.concat([Buffer.from(CLIENT_PREFACE), frame(4, 0, 0, Buffer.alloc(0))]))
    return client
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    if (this.isClosed) return
    await new Promise<void>((resolve) => {
      this.#onClosed = resolve
    })
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** The error code of the last frame, if it is GOAWAY. */
  get goaway(): number | undefined {
    const last = this.#heard.subarray(-17)
    return last.length === 17 && last[3] === 7 ? last.readUInt32BE(13) : undefined
  }

  #hear(bytes: Buffer): void {
    this.#heard = Buffer.concat([this.#heard, bytes]).subarray(-17)
  }

  /** The header fields of a request, without compression (RFC 7541, 6.2.2). */
  head(url: string, method: string): Buffer {
    const literal = (name: string, value: string) =>
      Buffer.concat([
        Buffer.from([0, name.length]),
        Buffer.from(name),
        Buffer.from([value.length]),
        Buffer.from(value),
      ])
    const fields = { ':method': method, ':scheme': 'https', ':authority': 'a', ':path': url }
    return Buffer.concat(Object.entries(fields).map(([name, value]) => literal(name, value)))
  }

  /** HEADERS of a whole request, or of one whose body follows. */
  request(stream: number, url: string, method = 'GET'): Buffer {
    return frame(1, method === 'GET' ? 5 : 4, stream, this.head(url, method))
  }

  /** Resolves when the bytes were taken, or the connection is closed. */
  write(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (this.isClosed) return resolve()
      this.#onClosed = resolve
      this.#socket.write(bytes, () => setImmediate(resolve))
    })
  }
}
