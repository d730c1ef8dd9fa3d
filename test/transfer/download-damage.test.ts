import assert from 'node:assert/strict'
import { readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Writable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { pino } from 'pino'
import type { FileId } from '../../src/base/objects/ids.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { Client } from '../support/client.ts'
import { rawGet } from '../support/raw-get.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { bytesOf, openLibrary, storeFile } from '../support/stored-files.ts'

const SMALL = 5000
const ONE_BLOCK = 300_000
const LARGE = 40 * 2 ** 20
let server: TestServer
let client: Client
let library: string
const logged: string[] = []

before(async () => {
  const sink = new Writable({
    write(line: Buffer, _encoding, done) {
      logged.push(line.toString())
      done()
    },
  })
  server = await startServer({ logger: pino({ level: 'error' }, sink) })
  client = await server.signUp()
  library = await client.createLibrary()
})
after(() => server[Symbol.asyncDispose]())

async function linkTo(name: string): Promise<string> {
  return (await client.get(`/api2/repos/${library}/file/`, { p: `/${name}`, reuse: 1 })).body
}

/** The block ids of the file, and the paths of the blocks. */
async function blocksOf(id: string): Promise<{ id: string; file: string }[]> {
  const { info } = await openLibrary(server, client, library)
  const { blockIds } = await storesOf(server.running.services.core).objects.getFile(info.key, id as FileId)
  return blockIds.map((block) => ({
    id: block,
    file: path.join(server.data, 'blocks', block.slice(0, 2), block.slice(2)),
  }))
}

async function flip(file: string, at: number): Promise<void> {
  const content = await readFile(file)
  content.writeUInt8(content.readUInt8(at) ^ 1, at)
  await writeFile(file, content)
}

const damages: [name: string, damage: (file: string) => Promise<unknown>][] = [
  ['has a bit flipped', (file) => flip(file, 100_000)],
  [
    'has a bit flipped and an old mtime',
    async (file) => {
      await flip(file, 299_999)
      await utimes(file, 1_600_000_000, 1_600_000_000)
    },
  ],
  ['is truncated', (file) => truncate(file, 200_000)],
  ['is empty', (file) => truncate(file, 0)],
  ['has grown', (file) => writeFile(file, 'x', { flag: 'a' })],
  ['is missing', (file) => rm(file)],
]

describe('a block on disk that', () => {
  for (const [damage, doIt] of damages) {
    for (const isReadBefore of [false, true]) {
      const when = isReadBefore ? ', after a successful read,' : ''
      it(`${damage}${when} is never served as the file`, async () => {
        const bytes = bytesOf(ONE_BLOCK)
        const [block] = await blocksOf(await storeFile(server, client, library, '/damaged', bytes))
        const link = await linkTo('damaged')
        if (isReadBefore) assert.ok((await rawGet(link)).bytes.equals(bytes))
        if (isReadBefore) assert.equal((await rawGet(link, { headers: { range: 'bytes=0-9' } })).status, 206)
        assert.ok(block)
        await doIt(block.file)
        const requests: Record<string, string>[] = [
          {},
          { range: 'bytes=10-19' },
          { range: 'bytes=1-2,100-299999' },
        ]
        for (const headers of requests) {
          logged.length = 0
          const reply = await rawGet(link, { headers })
          assert.deepEqual([logged.length, logged[0]?.includes(block.id)], [1, true], 'it is logged once')
          assert.ok(reply.status === 500 || reply.isCut, `${reply.status} with ${reply.bytes.length} bytes`)
          if (reply.status === 500) assert.equal(reply.bytes.toString(), 'Internal error')
        }
      })
    }
  }

  it('is in the middle of a file closes the connection when it is reached', async () => {
    const bytes = bytesOf(LARGE)
    const blocks = await blocksOf(await storeFile(server, client, library, '/large', bytes))
    const damaged = blocks[2]
    assert.ok(damaged)
    const link = await linkTo('large')
    await flip(damaged.file, 1_000_000)
    const reply = await rawGet(link)
    assert.equal(reply.status, 200)
    assert.ok(reply.isCut)
    assert.ok(reply.bytes.length < LARGE)
    const before = await rawGet(link, { headers: { range: 'bytes=0-999999' } })
    assert.ok(before.bytes.equals(bytes.subarray(0, 1_000_000)), 'the rest of the file can still be read')
    await flip(damaged.file, 1_000_000)
    assert.ok((await rawGet(link)).bytes.equals(bytes), 'and all of it once it is repaired')
  })
})

describe('a block in the database that', () => {
  it('is damaged or missing is an error', async () => {
    const { db } = server.running.services
    const [block] = await blocksOf(await storeFile(server, client, library, '/small', bytesOf(SMALL)))
    const link = await linkTo('small')
    const key = Buffer.from(block?.id ?? '', 'hex')
    await db.write((tx) => tx.run('update small_block set data = ? where id = ?', bytesOf(SMALL), key))
    assert.equal((await rawGet(link)).status, 500)
    await db.write((tx) => tx.run('delete from small_block where id = ?', key))
    assert.equal((await rawGet(link)).status, 500)
  })

  it('does not belong to the library is an error', async () => {
    const { db } = server.running.services
    for (const size of [SMALL, ONE_BLOCK]) {
      const [block] = await blocksOf(await storeFile(server, client, library, '/lost', bytesOf(size)))
      const link = await linkTo('lost')
      const key = Buffer.from(block?.id ?? '', 'hex')
      await db.write((tx) => tx.run('delete from library_block where block_id = ?', key))
      assert.equal((await rawGet(link)).status, 500)
    }
  })

  it('cannot be read does not consume a one-time link', async () => {
    const bytes = bytesOf(ONE_BLOCK)
    const [block] = await blocksOf(await storeFile(server, client, library, '/once', bytes))
    const link = (await client.get(`/api2/repos/${library}/file/`, { p: '/once' })).body
    assert.ok(block)
    await flip(block.file, 5)
    assert.equal((await rawGet(link)).status, 500)
    await flip(block.file, 5)
    assert.ok((await rawGet(link)).bytes.equals(bytes))
    assert.equal((await rawGet(link)).status, 403)
  })
})
