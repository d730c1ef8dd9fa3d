import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { postForm, storedBytes, uploadFile, uploadLink } from '../support/transfer.ts'
import { startTwoServers, type TwoServers } from '../support/two-servers.ts'

const CHUNK = 3_000_000

describe('a file whose chunks reach two servers in turn', () => {
  let servers: TwoServers
  let clients: Client[]
  let library = ''
  before(async () => {
    servers = await startTwoServers({ CARREL_GC_GRACE_SECONDS: '0' })
    const here = await servers.here.signUp()
    clients = [here, new Client(servers.there.url, here.token, here.email)]
    library = await here.createLibrary()
  })
  after(() => servers[Symbol.asyncDispose]())

  const client = (index: number) => clients[index % 2] ?? assert.fail()
  const send = async (index: number, name: string, bytes: Buffer, start: number) => {
    const end = Math.min(bytes.length, start + CHUNK)
    const part = { filename: name, bytes: bytes.subarray(start, end) }
    return postForm(await uploadLink(client(index), library), [['parent_dir', '/'], part], {
      query: 'ret-json=1',
      headers: { 'Content-Range': `bytes ${start}-${end - 1}/${bytes.length}` },
    })
  }
  const collect = () => servers.here.running.services.gc.runOnce()

  it('is the same as if it had been sent at once, with collections in between', async () => {
    const bytes = randomBytes(7.5 * CHUNK)
    for (let index = 0; index * CHUNK < bytes.length; index += 1) {
      const query = { parent_dir: '/', file_name: 'turns.bin' }
      const stored = await client(index).get(`/api/v2.1/repos/${library}/file-uploaded-bytes/`, query)
      assert.equal(stored.body.uploadedBytes, index * CHUNK)
      const reply = await send(index, 'turns.bin', bytes, index * CHUNK)
      assert.equal(reply.status, 200, reply.text)
      await collect()
      await collect()
    }
    assert(bytes.equals(await storedBytes(servers.here, library, '/turns.bin')))
    const detail = await client(1).get(`/api2/repos/${library}/file/detail/`, { p: '/turns.bin' })
    assert.equal(detail.body.id, (await uploadFile(client(0), library, '/whole.bin', bytes)).id)
  })

  it('takes a chunk that reaches both at once, and the last one once', async () => {
    const bytes = randomBytes(3 * CHUNK)
    const both = (start: number) =>
      Promise.all([send(0, 'both.bin', bytes, start), send(1, 'both.bin', bytes, start)])
    for (const start of [0, CHUNK]) {
      for (const reply of await both(start)) assert.equal(reply.text, '{"success": true}')
    }
    const last = await both(2 * CHUNK)
    assert.deepEqual(
      last.map(({ status }) => status).sort((a, b) => a - b),
      [200, 400],
    )
    assert(bytes.equals(await storedBytes(servers.here, library, '/both.bin')))
  })
})
