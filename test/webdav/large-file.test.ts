import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readMemory } from '../../bench/memory.ts'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { ADMIN } from '../support/server.ts'
import { asking, DavClient } from './dav-client.ts'

const MIB = 2 ** 20
const SIZE = 2 ** 32 + 3 * MIB + 5
/** How much more memory the server may use for it than for a file of 64 MiB. */
const MAX_GROWTH = 100e6

// Zeros, whose blocks are stored once, and text around the offsets where a signed or an unsigned integer of 32 bits overflows.
const zeros = Buffer.alloc(MIB)
const marked = [2047, 2048, 4095, 4096, Math.floor(SIZE / MIB)]
const pieces = new Map(marked.map((index) => [index, Buffer.alloc(MIB, `piece ${index}, `)]))
const pieceAt = (index: number) => pieces.get(index) ?? zeros

/** The bytes from `start` up to `end`. */
function expected(start: number, end: number): Buffer {
  const first = Math.floor(start / MIB)
  const count = Math.ceil(end / MIB) - first
  // Most chunks of a response are in one piece. Copying pieces of 1 MiB for each of them would take minutes.
  if (count === 1) return pieceAt(first).subarray(start - first * MIB, end - first * MIB)
  const all = Buffer.concat(Array.from({ length: count }, (_, at) => pieceAt(first + at)))
  return all.subarray(start - first * MIB, end - first * MIB)
}

describe('a file of more than 4 GiB over WebDAV', { timeout: 600_000 }, () => {
  let server: ChildServer
  let data = ''
  let dav: DavClient
  const headers = {
    Authorization: `Basic ${Buffer.from(`${ADMIN.email}:${ADMIN.password}`).toString('base64')}`,
  }
  const file = '/dav/Large/file.bin'
  const peak = async () => (await readMemory(server.process.pid ?? 0)).peak
  before(async () => {
    data = await mkdtemp(path.join(os.tmpdir(), 'carrel-large-'))
    server = await spawnServer(data)
    const admin = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    await admin.createLibrary('Large')
    dav = new DavClient(server.url, ADMIN.email, ADMIN.password)
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await rm(data, { recursive: true, force: true })
  })

  /** Sends the first bytes of the content, as fast as the server takes them. */
  async function put(url: string, bytes: number): Promise<http.IncomingMessage> {
    const request = http.request(server.url + url, {
      method: 'PUT',
      headers: { ...headers, 'Content-Length': bytes },
    })
    const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
    for (let index = 0; index * MIB < bytes; index += 1) {
      const piece = pieceAt(index).subarray(0, Math.min(MIB, bytes - index * MIB))
      if (!request.write(piece)) await once(request, 'drain')
    }
    request.end()
    const [response] = await answered
    response.resume()
    return response
  }

  /** Reads the file and compares it with the content while it arrives. Resolves to its length. */
  async function compare(): Promise<number> {
    const request = http.get(server.url + file, { headers })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-length'], String(SIZE))
    let at = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const isEqual = chunk.equals(expected(at, at + chunk.length))
      assert.ok(isEqual, `bytes differ from ${at} on`)
      at += chunk.length
    }
    return at
  }

  it('is stored and read back, with memory that does not depend on its size', async () => {
    assert.equal((await put('/dav/Large/small.bin', 64 * MIB)).statusCode, 201)
    const before = await peak()
    const stored = await put(file, SIZE)
    assert.equal(stored.statusCode, 201)
    const listed = await dav.propfind(file, '0', asking('getcontentlength', 'getetag'))
    assert.match(listed.text, new RegExp(`<d:getcontentlength>${SIZE}<`))
    assert.ok(listed.text.includes(`<d:getetag>${stored.headers.etag}<`))
    assert.equal(await compare(), SIZE)
    const growth = (await peak()) - before
    assert.ok(growth < MAX_GROWTH, `the memory grew by ${Math.round(growth / 1e6)} MB`)
  })

  for (const [name, start, end] of [
    ['across 2^31', 2 ** 31 - 20, 2 ** 31 + 20],
    ['after 2^31', 2 ** 31 + 5, 2 ** 31 + 70_000],
    ['across 2^32', 2 ** 32 - 20, 2 ** 32 + 20],
    ['after 2^32', 2 ** 32 + 5, 2 ** 32 + 70_000],
    ['at the end', SIZE - 30, SIZE],
  ] as const) {
    it(`is read in a range ${name}`, async () => {
      const response = await fetch(server.url + file, {
        headers: { ...headers, Range: `bytes=${start}-${end - 1}` },
      })
      assert.equal(response.status, 206)
      assert.equal(response.headers.get('content-range'), `bytes ${start}-${end - 1}/${SIZE}`)
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(expected(start, end)))
    })
  }

  it('is read from an offset, by its last bytes, and not beyond its end', async () => {
    const range = async (text: string) => {
      const response = await fetch(server.url + file, { headers: { ...headers, Range: `bytes=${text}` } })
      return [response.status, Buffer.from(await response.arrayBuffer())] as const
    }
    const [status, bytes] = await range(`${2 ** 32 + 3 * MIB}-`)
    assert.deepEqual([status, bytes.toString()], [206, expected(2 ** 32 + 3 * MIB, SIZE).toString()])
    const [, last] = await range('-7')
    assert.equal(last.toString(), expected(SIZE - 7, SIZE).toString())
    assert.equal((await range(`${SIZE}-`))[0], 416)
  })

  it('is copied in one commit, and the copy has the same entity tag', async () => {
    const reply = await dav.call('COPY', file, { headers: { Destination: '/dav/Large/copy.bin' } })
    assert.equal(reply.status, 201)
    const etag = async (url: string) =>
      /<d:getetag>([^<]*)/.exec((await dav.propfind(url, '0', asking('getetag'))).text)?.[1]
    assert.equal(await etag('/dav/Large/copy.bin'), await etag(file))
  })
})
