import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Client } from '../support/client.ts'
import { type RawReply, rawGet } from '../support/raw-get.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { bytesOf, storeFile } from '../support/stored-files.ts'

const SIZE = 25 * 2 ** 20 + 7
const bytes = bytesOf(SIZE)
let server: TestServer
let client: Client
let library: string

before(async () => {
  server = await startServer()
  client = await server.signUp()
  library = await client.createLibrary()
  await storeFile(server, client, library, '/big.bin', bytes)
  await storeFile(server, client, library, '/small.txt', Buffer.from('0123456789'))
  await storeFile(server, client, library, '/empty', Buffer.alloc(0))
})
after(() => server[Symbol.asyncDispose]())

async function linkTo(path: string): Promise<string> {
  return (await client.get(`/api2/repos/${library}/file/`, { p: path, reuse: 1 })).body
}

describe('a range', () => {
  const cases: [range: string, status: number, contentRange: string | undefined, body: string][] = [
    ['bytes=0-0', 206, 'bytes 0-0/10', '0'],
    ['bytes=2-5', 206, 'bytes 2-5/10', '2345'],
    ['bytes=2-', 206, 'bytes 2-9/10', '23456789'],
    ['bytes=-3', 206, 'bytes 7-9/10', '789'],
    ['bytes=-99', 206, 'bytes 0-9/10', '0123456789'],
    ['bytes=0-99', 206, 'bytes 0-9/10', '0123456789'],
    ['bytes=0-4,3-6', 206, 'bytes 0-6/10', '0123456'],
    ['bytes=3-4,77-78', 206, 'bytes 3-4/10', '34'],
    ['bytes=10-', 416, 'bytes */10', 'Requested range not satisfiable.'],
    ['bytes=-0', 416, 'bytes */10', 'Requested range not satisfiable.'],
    ['bytes=5-4', 200, undefined, '0123456789'],
    ['lines=1-2', 200, undefined, '0123456789'],
    ['nonsense', 200, undefined, '0123456789'],
    [`bytes=${'0-0,'.repeat(101)}`, 200, undefined, '0123456789'],
  ]
  for (const [range, status, contentRange, body] of cases) {
    it(`${range.slice(0, 30)} is answered with ${status}`, async () => {
      const reply = await rawGet(await linkTo('/small.txt'), { headers: { range } })
      assert.equal(reply.status, status)
      assert.equal(reply.headers['content-range'], contentRange)
      assert.equal(reply.headers['content-length'], String(body.length))
      assert.equal(reply.headers['accept-ranges'], 'bytes')
      assert.equal(reply.bytes.toString(), body)
    })
  }

  it('of an empty file is the whole file', async () => {
    for (const range of ['bytes=0-', 'bytes=-5', 'bytes=3-4', 'bytes=0-0,2-3']) {
      const reply = await rawGet(await linkTo('/empty'), { headers: { range } })
      assert.deepEqual([reply.status, reply.headers['content-length'], reply.bytes.length], [200, '0', 0])
      assert.equal(reply.headers.etag, `"${'0'.repeat(40)}"`)
    }
  })

  it('is ignored by HEAD', async () => {
    for (const range of ['bytes=2-5', 'bytes=99-']) {
      const reply = await rawGet(await linkTo('/small.txt'), { method: 'HEAD', headers: { range } })
      assert.deepEqual([reply.status, reply.headers['content-length']], [200, '10'])
      assert.equal(reply.headers['content-range'], undefined)
    }
  })

  it('among several is sent as a separate part', async () => {
    const reply = await rawGet(await linkTo('/small.txt'), { headers: { range: 'bytes=7-8,0-1,3-3,99-' } })
    assert.equal(reply.status, 206)
    assert.equal(reply.headers['content-length'], String(reply.bytes.length))
    assert.deepEqual(
      partsOf(reply).map(({ head, body }) => [head, body.toString()]),
      [
        ['Content-Type: text/plain; charset=utf-8\r\nContent-Range: bytes 7-8/10', '78'],
        ['Content-Type: text/plain; charset=utf-8\r\nContent-Range: bytes 0-1/10', '01'],
        ['Content-Type: text/plain; charset=utf-8\r\nContent-Range: bytes 3-3/10', '3'],
      ],
    )
  })

  it('of a file of several blocks is exact, wherever it begins and ends', async () => {
    const link = await linkTo('/big.bin')
    const point = fc.oneof(
      fc.nat(SIZE - 1),
      fc.constantFrom(0, 65_535, 65_536, 2 ** 20, 8 * 2 ** 20, SIZE - 1),
    )
    const length = fc.oneof(fc.integer({ min: 1, max: 200_000 }), fc.integer({ min: 1, max: SIZE }))
    await fc.assert(
      fc.asyncProperty(point, length, async (start, wanted) => {
        const end = Math.min(SIZE, start + wanted)
        const reply = await rawGet(link, { headers: { range: `bytes=${start}-${end - 1}` } })
        assert.equal(reply.status, 206)
        assert.equal(reply.headers['content-range'], `bytes ${start}-${end - 1}/${SIZE}`)
        assert.ok(reply.bytes.equals(bytes.subarray(start, end)))
      }),
      { numRuns: 40 },
    )
  })

  it('with others of a file of several blocks yields a body of the announced length', async () => {
    const link = await linkTo('/big.bin')
    const cuts = fc.uniqueArray(fc.nat(SIZE - 1), { minLength: 4, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(cuts, async (points) => {
        const sorted = points.toSorted((a, b) => a - b)
        const wanted: { start: number; end: number }[] = []
        // Every second stretch, so that no two are adjacent.
        for (let at = 0; at + 1 < sorted.length; at += 2) {
          const [start = 0, end = 0] = sorted.slice(at, at + 2)
          if (start < end) wanted.push({ start, end })
        }
        const range = `bytes=${wanted.map(({ start, end }) => `${start}-${end - 1}`).join(', ')}`
        const reply = await rawGet(link, { headers: { range } })
        assert.equal(reply.headers['content-length'], String(reply.bytes.length))
        const parts = partsOf(reply)
        assert.equal(parts.length, wanted.length)
        for (const [index, { start, end }] of wanted.entries()) {
          assert.ok(parts[index]?.body.equals(bytes.subarray(start, end)))
        }
      }),
      { numRuns: 10 },
    )
  })
})

function partsOf({ headers, bytes: body }: RawReply): { head: string; body: Buffer }[] {
  const boundary = /^multipart\/byteranges; boundary=([\w-]+)$/.exec(headers['content-type'] ?? '')?.[1]
  assert.ok(boundary, 'it is not in parts')
  const parts: { head: string; body: Buffer }[] = []
  let at = 0
  const opening = `--${boundary}\r\n`
  while (!body.subarray(at).equals(Buffer.from(`--${boundary}--\r\n`))) {
    assert.equal(body.subarray(at, at + opening.length).toString('latin1'), opening)
    const blank = body.indexOf('\r\n\r\n', at)
    const head = body.subarray(at + opening.length, blank).toString('latin1')
    const [, start, end] = /Content-Range: bytes (\d+)-(\d+)\//.exec(head) ?? []
    const length = Number(end) - Number(start) + 1
    parts.push({ head, body: body.subarray(blank + 4, blank + 4 + length) })
    at = blank + 4 + length
    assert.equal(body.subarray(at, at + 2).toString('latin1'), '\r\n')
    at += 2
  }
  return parts
}
