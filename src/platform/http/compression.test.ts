import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { describeTransports, route, type Serve } from '../../../test/support/http-server.ts'
import { jsonTextResponse, rawResponse } from '../responses/response.ts'
import { chooseCoding } from './compression.ts'

describe('the choice of a content coding', () => {
  for (const [accepted, expected] of [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['GZIP ; q=0.2', 'gzip'],
    ['gzip;q=0, br;q=0', undefined],
    ['*', 'zstd'],
    ['*;q=0.1, zstd;q=0', 'br'],
    ['identity, gzip;q=0.5', undefined],
    ['gzip;q=nonsense', undefined],
    ['gzip;q=2', undefined],
    ['deflate', undefined],
  ] as const) {
    it(`${accepted} is ${expected}`, () => assert.equal(chooseCoding(accepted), expected))
  }
})

const decode = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
} as const

const SHORT = JSON.stringify({ name: 'x'.repeat(900) })
const MIDDLE = JSON.stringify(Array.from({ length: 500 }, (_, n) => `entry ${n}`))
const LONG = JSON.stringify(Array.from({ length: 60_000 }, (_, n) => `entry ${n}`))

const TEXT = { 'Content-Type': 'text/plain' }

/** Bytes that cannot be compressed, until `mayFail`; then an error. */
async function* failing(mayFail: () => boolean): AsyncGenerator<Buffer> {
  while (!mayFail()) yield randomBytes(100_000)
  throw new Error('broken')
}

async function get(url: string, accepted: string | undefined, method = 'GET') {
  const headers = accepted === undefined ? {} : { 'Accept-Encoding': accepted }
  const sent = request(url, { method, headers, agent: false })
  sent.end()
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: reply.statusCode, headers: reply.headers, bytes: await buffer(reply) }
}

describeTransports('compression', (serve: Serve) => {
  const serving = (handle: () => unknown, limit?: number, path = '/') =>
    serve(
      [route({ method: 'GET', path, auth: 'none', summary: 'A test.', handle })],
      limit === undefined ? {} : { limits: { compressions: limit } },
    )

  for (const [size, text] of [
    ['a body in memory', MIDDLE],
    ['a long body', LONG],
  ] as const) {
    it(`sends ${size} in the coding the client prefers, with a weak tag`, async () => {
      await using server = await serving(() => jsonTextResponse(text, { headers: { ETag: '"a"' } }))
      for (const coding of ['gzip', 'br', 'zstd'] as const) {
        const { headers, bytes } = await get(server.url, coding)
        assert.equal(headers['content-encoding'], coding)
        assert.equal(headers.vary, 'Accept-Encoding')
        assert.equal(headers.etag, 'W/"a"')
        assert.equal(decode[coding](bytes).toString(), text)
        assert.ok(bytes.length < text.length / 3, `${bytes.length} of ${text.length} bytes`)
      }
      const plain = await get(server.url, undefined)
      assert.equal(plain.headers['content-encoding'], undefined)
      assert.equal(plain.headers.vary, 'Accept-Encoding')
      assert.equal(plain.headers.etag, '"a"')
      assert.equal(plain.bytes.toString(), text)
    })
  }

  it('compresses a stream, and one whose chunks reuse their memory', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const reused = Buffer.alloc(1000)
    let released = 0
    const chunks = () => {
      let n = 0
      return {
        async next() {
          n += 1
          return n > 50
            ? { done: true as const, value: undefined }
            : { done: false as const, value: reused.fill(48 + (n % 10)) }
        },
        async return() {
          released += 1
        },
      }
    }
    const expected = Array.from({ length: 50 }, (_, n) => String((n + 1) % 10).repeat(1000)).join('')
    await using stream = await serving(() => rawResponse({ headers, body: Readable.from([MIDDLE, LONG]) }))
    await using pieces = await serving(() => rawResponse({ headers, body: chunks() }))
    const one = await get(stream.url, 'gzip')
    assert.equal(gunzipSync(one.bytes).toString(), MIDDLE + LONG)
    const other = await get(pieces.url, 'gzip')
    assert.equal(gunzipSync(other.bytes).toString(), expected)
    assert.equal(released, 1)
  })

  it('answers with an error if a stream fails before its first byte is sent', async () => {
    const body = () => Readable.from(failing(() => true))
    await using server = await serving(() => rawResponse({ headers: TEXT, body: body() }), 1)
    // The place of the first is free again for the second.
    for (let n = 0; n < 2; n++) {
      const { status, headers } = await get(server.url, 'gzip')
      assert.equal(status, 500)
      assert.equal(headers['content-encoding'], undefined)
    }
  })

  it('does not pass off part of a stream that fails later for the whole', async () => {
    let isReceived = false
    await using server = await serving(
      () => rawResponse({ headers: TEXT, body: Readable.from(failing(() => isReceived)) }),
      1,
    )
    const sent = request(server.url, { headers: { 'Accept-Encoding': 'gzip' }, agent: false })
    sent.end()
    const [reply] = (await once(sent, 'response')) as [IncomingMessage]
    assert.equal(reply.headers['content-encoding'], 'gzip')
    reply.once('data', () => {
      isReceived = true
    })
    const [error] = (await once(reply, 'error')) as [NodeJS.ErrnoException]
    assert.equal(error.code, 'ECONNRESET')
  })

  it('leaves alone what is short, coded, of another type, or can be requested in ranges', async () => {
    const bytes = Buffer.from(MIDDLE)
    const type = { 'Content-Type': 'text/plain' }
    for (const handle of [
      () => jsonTextResponse(SHORT),
      () => rawResponse({ headers: { 'Content-Type': 'image/png' }, body: bytes }),
      () => rawResponse({ headers: { 'Content-Type': 'text/event-stream' }, body: bytes }),
      () => rawResponse({ headers: { ...type, 'Content-Encoding': 'x' }, body: bytes }),
      () => rawResponse({ headers: { ...type, 'Accept-Ranges': 'bytes' }, body: bytes }),
      () => rawResponse({ status: 206, headers: { ...type, 'Content-Range': 'bytes 0-1/9' }, body: bytes }),
    ]) {
      await using server = await serving(handle)
      const { headers } = await get(server.url, 'gzip')
      assert.ok(!['gzip', 'br', 'zstd'].includes(headers['content-encoding'] ?? ''))
    }
    await using server = await serving(() => jsonTextResponse(MIDDLE))
    const head = await get(server.url, 'gzip', 'HEAD')
    assert.equal(head.headers['content-encoding'], undefined)
  })

  it('does not compress responses with secrets', async () => {
    await using server = await serving(() => jsonTextResponse(MIDDLE), undefined, '/share-links/')
    const { headers, bytes } = await get(`${server.url}/share-links/`, 'gzip')
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(bytes.toString(), MIDDLE)
  })

  it('sends a response as it is while as many as allowed are being compressed', async () => {
    await using none = await serving(() => jsonTextResponse(MIDDLE), 0)
    const { headers, bytes } = await get(none.url, 'gzip')
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(bytes.toString(), MIDDLE)
    await using one = await serving(() => jsonTextResponse(LONG), 1)
    for (let n = 0; n < 5; n++) assert.equal((await get(one.url, 'gzip')).headers['content-encoding'], 'gzip')
  })
})
