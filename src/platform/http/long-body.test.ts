import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { describeTransports, route } from '../../../test/support/http-server.ts'
import { errorMessage } from '../responses/refusal.ts'
import { ClientDisconnected } from './request.ts'

const MIB = 2 ** 20
const BACKLOG = 200_000
const bytes = randomBytes(18 * MIB)
const sha1 = (data: Uint8Array) => createHash('sha1').update(data).digest('hex')
const head = (length: number) => `POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`

interface Watched {
  /** Resolves when the client has sent more than Node reads at once. */
  backlog: Promise<void>
  thrown: unknown
}

/** Responds with the hash of the body, after more of it is pending than Node has read. */
const hashing = (lend: (n: number) => boolean, watched: Watched) =>
  route({
    method: 'POST',
    path: '/read',
    auth: 'none',
    summary: 'A test.',
    body: 'raw',
    async handle({ body, request }) {
      const hash = createHash('sha1')
      try {
        for (let n = 0; ; n++) {
          if (n === 1) await watched.backlog
          if (n === 9 && request.headers['x-refused'] !== undefined) throw errorMessage(443, 'Out of quota.')
          const chunk = await body.read(lend(n))
          if (chunk === undefined) return hash.digest('hex')
          hash.update(chunk)
        }
      } catch (error) {
        watched.thrown = error
        throw error
      }
    },
  })

/** Sends bytes. `backlog` resolves when the kernel has taken more of them than Node reads at once. */
function send(port: number, ...parts: (string | Buffer)[]): { socket: Socket; backlog: Promise<void> } {
  const socket = connect(port, '127.0.0.1')
  const all = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const { promise: backlog, resolve } = Promise.withResolvers<void>()
  socket.write(all.subarray(0, BACKLOG), () => {
    resolve()
    socket.write(all.subarray(BACKLOG))
  })
  return { socket, backlog }
}

function watch(): Watched {
  return { backlog: Promise.resolve(), thrown: undefined }
}

describeTransports('a long body', (serve) => {
  const ways: [name: string, lend: (n: number) => boolean][] = [
    ['lent', () => true],
    ['kept', () => false],
    ['lent and kept in turns', (n) => n % 3 !== 2],
  ]
  for (const [name, lend] of ways) {
    it(`comes in as it was sent (${name})`, async () => {
      const watched = watch()
      await using server = await serve([hashing(lend, watched)])
      const { socket, backlog } = send(server.port, head(bytes.length), bytes)
      watched.backlog = backlog
      const heard: Buffer[] = []
      socket.on('data', (data) => heard.push(data))
      while (!Buffer.concat(heard).toString().includes(sha1(bytes))) await once(socket, 'data')
      socket.destroy()
    })
  }

  it('ends where it ends, and the next request comes after it', async () => {
    const watched = watch()
    await using server = await serve([hashing(() => true, watched)])
    const next = 'GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const { socket, backlog } = send(server.port, head(bytes.length), bytes, next)
    watched.backlog = backlog
    const heard = await text(socket)
    assert.match(heard, /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 404 /)
    assert.ok(heard.includes(sha1(bytes)))
    assert.equal(heard.split('HTTP/1.1 ').length, 3)
  })

  it('is refused in the middle', async () => {
    const watched = watch()
    await using server = await serve([hashing(() => true, watched)])
    const refused = head(bytes.length).replace('Host: a', 'Host: a\r\nX-Refused: 1')
    const { socket, backlog } = send(server.port, refused, bytes)
    watched.backlog = backlog
    socket.on('error', () => {})
    let heard = ''
    while (!heard.includes('Out of quota.')) heard += String((await once(socket, 'data'))[0])
    assert.match(heard, /^HTTP\/1\.1 443 [^]*\r\nConnection: close\r\n/)
    socket.destroy()
  })

  it('whose sender leaves is no body', async () => {
    const watched = watch()
    await using server = await serve([hashing(() => true, watched)])
    const { socket, backlog } = send(server.port, head(bytes.length), bytes.subarray(0, 17 * MIB))
    watched.backlog = backlog
    await backlog
    socket.end()
    await once(socket.resume(), 'close')
    await server.server.close()
    assert.ok(watched.thrown instanceof ClientDisconnected)
  })
})
