import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { shareWith, unshare } from '../api/sharing-support.ts'
import { fetchArchive, holdContent, progressOf, startArchive, waitForArchive } from '../support/archives.ts'
import type { Client } from '../support/client.ts'
import { createEncrypted, openEncrypted } from '../support/encrypted.ts'
import { EventStream } from '../support/event-stream.ts'
import { at, declareDead, Nodes } from '../support/nodes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import type { TestServer } from '../support/server.ts'
import { storeFile } from '../support/stored-files.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { unzip } from '../support/zip-reader.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false

describe('archives on several nodes', { skip }, () => {
  let postgres: PostgresServer
  before(() => {
    postgres = found as PostgresServer
  })
  after(() => postgres[Symbol.asyncDispose]())

  const contents = new Map([
    ['long', randomBytes(2 ** 20)],
    ['short', Buffer.from('short')],
  ])

  async function furnish(node: TestServer): Promise<{ client: Client; library: string }> {
    const client = await node.signUp()
    const library = await client.createLibrary()
    for (const [name, bytes] of contents) await storeFile(node, client, library, `/${name}`, bytes)
    return { client, library }
  }

  const beat = ({ running }: TestServer) => running.services.archives.maintain()
  const archiveFilesOf = ({ data }: TestServer) => readdir(path.join(data, 'archives')).catch(() => [])
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

  it('are polled and fetched in ranges at any node, and survive the node that packed them', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const { client, library } = await furnish(first)
    const token = await startArchive(client, library, '/', [...contents.keys()])
    assert.equal((await waitForArchive(at(second, client), token)).zipped, 2)
    const whole = await bytesOf(await fetchArchive(second, token))
    assert.deepEqual(unzip(whole), contents)
    const part = await fetchArchive(second, token, { headers: { Range: 'bytes=100000-800000' } })
    assert.equal(part.status, 206)
    assert.ok(whole.subarray(100_000, 800_001).equals(await bytesOf(part)))
    assert.deepEqual(await archiveFilesOf(first), [])
    await declareDead(first)
    await beat(second)
    assert.ok(whole.equals(await bytesOf(await fetchArchive(second, token))))
  })

  it('are packed by another node when theirs is dead, and the dead one cannot finish them any more', async (t) => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const { client, library } = await furnish(first)
    const held = holdContent(t, first)
    const token = await startArchive(client, library, '/', [...contents.keys()])
    const other = at(second, client)
    await eventually(async () => assert.equal((await progressOf(other, token)).total, 2))
    await beat(second)
    assert.equal((await progressOf(other, token)).zipped, 0)
    await declareDead(first)
    await beat(second)
    assert.equal((await waitForArchive(other, token)).zipped, 2)
    const before = await fetchArchive(second, token)
    assert.deepEqual(unzip(await bytesOf(before)), contents)
    held.open()
    await eventually(async () => assert.deepEqual(await archiveFilesOf(first), []))
    const after = await fetchArchive(second, token)
    assert.equal(after.headers.get('etag'), before.headers.get('etag'))
    assert.deepEqual(unzip(await bytesOf(after)), contents)
  })

  it('are reported on event streams when another node has packed them', async (t) => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const { client, library } = await furnish(first)
    const held = holdContent(t, first)
    await using stream = await EventStream.open(at(second, client))
    const token = await startArchive(client, library, '/', [...contents.keys()])
    await declareDead(first)
    await beat(second)
    for (;;) {
      const event = await stream.next()
      assert.ok(event !== undefined, 'the stream ended')
      if (event.event !== 'task') continue
      const { task_id, type, state, done } = event.data
      assert.deepEqual([task_id, type], [token, 'archive'])
      if (state !== 'successful') continue
      assert.equal(done, 2)
      break
    }
    held.open()
  })

  it('do not leave the ticket of an encrypted library in the database', async () => {
    await using nodes = await Nodes.create(postgres)
    const node = await nodes.start()
    const client = await node.signUp()
    const { id } = await createEncrypted(client, 4)
    await openEncrypted(client, id)
    await uploadFile(client, id, 'file', 'text')
    await waitForArchive(client, await startArchive(client, id, '/', ['file']))
    const plain = await furnish(node)
    await waitForArchive(plain.client, await startArchive(plain.client, plain.library, '/', ['short']))
    const { db, accounts } = node.running.services
    const rows = await db.all<{ sealed_ticket: Uint8Array | null }>(
      'select t.sealed_ticket from archive_ticket t join archive a on a.key = t.archive_key order by a.is_encrypted',
    )
    assert.deepEqual(
      rows.map(({ sealed_ticket }) => sealed_ticket !== null),
      [true, false],
    )
    // Events are logged in the order in which they happen.
    await eventually(async () => {
      const events = await db.all<{ event: string }>('select event from live_event')
      const tasks = events.map(({ event }) => JSON.parse(event)).filter(({ kind }) => kind === 'task')
      const { key } = await accounts.get(plain.client.email)
      assert.deepEqual(
        tasks.map(({ accountKey }) => accountKey),
        [key],
      )
    })
  })

  it('are packed by another node when theirs stops', async (t) => {
    await using nodes = await Nodes.create(postgres)
    const second = await nodes.start()
    const first = await nodes.start()
    const { client, library } = await furnish(first)
    const held = holdContent(t, first)
    const token = await startArchive(client, library, '/', [...contents.keys()])
    const closing = first.running.services.archives[Symbol.asyncDispose]()
    held.open()
    await closing
    await beat(second)
    assert.equal((await waitForArchive(at(second, client), token)).zipped, 2)
  })

  it('are canceled at any node', async (t) => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const { client, library } = await furnish(first)
    const held = holdContent(t, first)
    const token = await startArchive(client, library, '/', [...contents.keys()])
    await second.anonymous.post('/api/v2.1/cancel-zip-task/', { form: { token } })
    assert.equal((await progressOf(client, token)).canceled, 1)
    held.open()
    await eventually(async () => assert.deepEqual(await archiveFilesOf(first), []))
    assert.equal((await progressOf(client, token)).canceled, 1)
    assert.equal((await fetchArchive(first, token)).status, 400)
  })

  it('end at all nodes when the permission to read ends', async () => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const { client, library } = await furnish(first)
    const reader = await first.signUp()
    await shareWith(client, library, reader, { permission: 'r' })
    const token = await startArchive(reader, library, '/', ['short'])
    await waitForArchive(at(second, reader), token)
    await unshare(client, library, reader)
    for (const node of [first, second]) assert.equal((await fetchArchive(node, token)).status, 403)
    await beat(first)
    assert.deepEqual(await first.running.services.db.all('select id from archive'), [])
  })

  it('have limits for all nodes together', async (t) => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const { client, library } = await furnish(first)
    const held = [holdContent(t, first), holdContent(t, second)]
    const clients = [client, at(second, client)]
    for (let n = 0; n < 20; n += 1) await startArchive(clients[n % 2] ?? client, library, '/', ['short'])
    for (const each of clients) {
      const form = { parent_dir: '/', dirents: ['short'] }
      const reply = await each.post(`/api/v2.1/repos/${library}/zip-task/`, { form })
      assert.equal(reply.status, 503, reply.text)
    }
    for (const { open } of held) open()
  })

  it('of encrypted libraries are packed at another node by the next poll, and stored encrypted', async (t) => {
    await using nodes = await Nodes.create(postgres)
    const [first, second] = [await nodes.start(), await nodes.start()]
    const client = await first.signUp()
    const library = await createEncrypted(client, 2)
    await openEncrypted(client, library.id)
    const secret = Buffer.from('plaintext of an encrypted library '.repeat(1000))
    await uploadFile(client, library.id, '/a.jpg', secret)
    const held = holdContent(t, first)
    const token = await startArchive(client, library.id, '/', ['a.jpg'])
    await declareDead(first)
    await beat(second)
    const [row] = await second.running.services.db.all<{ state: string }>('select state from archive')
    assert.notEqual(row?.state, 'finished')
    assert.equal((await waitForArchive(at(second, client), token)).zipped, 1)
    const archive = unzip(await bytesOf(await fetchArchive(second, token)))
    assert.ok(archive.get('a.jpg')?.equals(secret))
    const stored = await second.running.services.db.all<{ data: Uint8Array }>('select data from small_block')
    assert.ok(stored.length > 0)
    for (const { data } of stored) assert.ok(!Buffer.from(data).includes('plaintext of'))
    const [done] = await second.running.services.db.all<{ sealed_key: unknown }>(
      'select sealed_key from archive',
    )
    assert.equal(done?.sealed_key, null)
    held.open()
  })

  it('keep their blocks until they are deleted', async () => {
    await using nodes = await Nodes.create(postgres, { CARREL_GC_GRACE_SECONDS: '0' })
    const [first, second] = [await nodes.start(), await nodes.start()]
    const { client, library } = await furnish(first)
    const token = await startArchive(client, library, '/', [...contents.keys()])
    await waitForArchive(client, token)
    const whole = await bytesOf(await fetchArchive(second, token))
    const { gc, db } = second.running.services
    const [block] = await db.all<{ block_id: Uint8Array }>('select block_id from archive_block')
    const isCondemned = async () => {
      for (let runs = 0; runs < 2; runs += 1) await gc.runOnce()
      const sql = 'select 1 as found from condemned_block where id = ?'
      return (await db.all(sql, block?.block_id ?? new Uint8Array())).length > 0
    }
    assert.equal(await isCondemned(), false)
    assert.ok(whole.equals(await bytesOf(await fetchArchive(second, token))))
    await second.anonymous.post('/api/v2.1/cancel-zip-task/', { form: { token } })
    assert.equal(await isCondemned(), true)
  })
})
