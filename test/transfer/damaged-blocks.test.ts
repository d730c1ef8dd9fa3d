import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient, sha1 } from '../support/sync-client.ts'
import { storedBytes, uploadFile } from '../support/transfer.ts'

const SMALL = 5000
const LARGE = 300_000
let server: TestServer
let client: Client
let library: string
before(async () => {
  server = await startServer()
  client = await server.signUp()
  library = await client.createLibrary()
})
after(() => server[Symbol.asyncDispose]())

const fileOf = (id: string) => path.join(server.data, 'blocks', id.slice(0, 2), id.slice(2))
const rowOf = (id: string) => Buffer.from(id, 'hex')

/** Every kind of damage, to the stored bytes of one block. */
const damages: [name: string, size: number, damage: (id: string) => Promise<unknown>][] = [
  [
    'a row with other bytes',
    SMALL,
    (id) => run('update small_block set data = ? where id = ?', randomBytes(SMALL), rowOf(id)),
  ],
  ['a row that is gone', SMALL, (id) => run('delete from small_block where id = ?', rowOf(id))],
  ['a file with other bytes', LARGE, (id) => writeFile(fileOf(id), randomBytes(LARGE))],
  ['a truncated file', LARGE, (id) => truncate(fileOf(id), 1000)],
  ['a file that is gone', LARGE, (id) => rm(fileOf(id))],
]

function run(sql: string, ...parameters: Buffer[]): Promise<number> {
  return server.running.services.db.write((tx) => tx.run(sql, ...parameters))
}

async function damagedBlocks(): Promise<number> {
  const { text } = await (await server.admin()).get('/metrics')
  return Number(/^carrel_damaged_blocks (\d+)$/m.exec(text)?.[1])
}

for (const [name, size, damage] of damages) {
  describe(name, () => {
    it('is replaced when the same bytes are uploaded again', async () => {
      const bytes = randomBytes(size)
      await uploadFile(client, library, '/first.bin', bytes, { replace: true })
      await damage(sha1(bytes))
      await uploadFile(client, library, '/second.bin', bytes, { replace: true })
      assert.ok((await storedBytes(server, library, '/first.bin')).equals(bytes))
      assert.ok((await storedBytes(server, library, '/second.bin')).equals(bytes))
    })

    it('is requested from clients once a read has failed, until one has sent the bytes', async () => {
      const bytes = randomBytes(size)
      const id = sha1(bytes)
      await uploadFile(client, library, '/lost.bin', bytes, { replace: true })
      const sync = await SyncClient.link(client, library)
      const missing = async () => {
        const checked = await sync.call('POST', 'check-blocks/', JSON.stringify([id]))
        const links = await client.post(`/api2/repos/${library}/upload-blks-link/`, { form: { blklist: id } })
        assert.deepEqual(links.body.blklist, checked.body)
        return checked.body
      }
      assert.deepEqual([await missing(), await damagedBlocks()], [[], 0])
      await damage(id)
      await assert.rejects(storedBytes(server, library, '/lost.bin'), /missing|damaged/)
      assert.deepEqual([await missing(), await damagedBlocks()], [[id], 1])
      const sent = await sync.call('PUT', `block/${id}`, bytes)
      assert.equal(sent.status, 200)
      assert.deepEqual([await missing(), await damagedBlocks()], [[], 0])
      assert.ok((await storedBytes(server, library, '/lost.bin')).equals(bytes))
    })
  })
}

it('does not take a block of another library for a lost one', async () => {
  const bytes = randomBytes(SMALL)
  const other = await client.createLibrary()
  await uploadFile(client, other, '/a.bin', bytes)
  const sync = await SyncClient.link(client, library)
  const reply = await sync.call('GET', `block/${sha1(bytes)}`)
  assert.notEqual(reply.status, 200)
  assert.equal(await damagedBlocks(), 0)
})
