import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import type { Row, Value } from '../../src/platform/database/database.ts'
import { shareWith } from '../api/sharing-support.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { makeTree, SyncClient } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'

const GRACE_SECONDS = 100
const LARGE = randomBytes(150_000)
const SMALL = randomBytes(900)

interface Stage extends AsyncDisposable {
  readonly server: TestServer
  readonly ann: Client
  readonly library: string
  /** Runs collections, each long after the grace period of the one before. */
  collect(): Promise<void>
  advance(seconds: number): void
  /** Rows and files that hold content. */
  stored(): Promise<number>
}

async function open(env: Record<string, string> = {}): Promise<Stage> {
  let now = 1_800_000_000
  const server = await startServer({
    env: { CARREL_GC_GRACE_SECONDS: String(GRACE_SECONDS), CARREL_HISTORY_DAYS: '0', ...env },
    now: () => now,
  })
  const ann = await server.signUp()
  return {
    server,
    ann,
    library: await ann.createLibrary(),
    async collect() {
      for (let run = 0; run < 5; run += 1) {
        await server.running.services.gc.runOnce()
        now += 1000
      }
    },
    advance(seconds) {
      now += seconds
    },
    async stored() {
      const row = await server.running.services.db.get<{ n: number }>('select count(*) as n from small_block')
      return (row?.n ?? 0) + (await blockFiles(server)).length
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Does something once, before the first query with a text. Resolves when it has been done. */
function beforeReading({ server }: Stage, text: string, work: () => Promise<void>): Promise<void> {
  const { db } = server.running.services
  const all = db.all.bind(db)
  const { promise, resolve } = Promise.withResolvers<void>()
  db.all = async <R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]> => {
    if (sql.includes(text)) {
      db.all = all
      await work()
      resolve()
    }
    return (await all(sql, ...parameters)) as R[]
  }
  return promise
}

async function blockFiles({ data }: TestServer): Promise<string[]> {
  const entries = await readdir(path.join(data, 'blocks'), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /^[0-9a-f]{38}$/.test(entry.name))
    .map(({ name }) => name)
}

describe('garbage collection keeps', () => {
  it('a deleted file while a download link of it is valid', async () => {
    await using stage = await open({ CARREL_TICKET_SECONDS: '86400' })
    const { ann, library } = stage
    await uploadFile(ann, library, '/large.bin', LARGE)
    await uploadFile(ann, library, '/small.bin', SMALL)
    const links: string[] = []
    for (const p of ['/large.bin', '/small.bin']) {
      links.push(String((await ann.get(`/api2/repos/${library}/file/`, { p, reuse: 1 })).body))
      await ann.delete(`/api2/repos/${library}/file/`, { query: { p } })
    }
    await stage.collect()
    for (const [index, bytes] of [LARGE, SMALL].entries()) {
      const response = await fetch(links[index] ?? '')
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes)
    }
    stage.advance(86_400)
    await stage.collect()
    assert.equal(await stage.stored(), 0)
  })

  it('what a sync client sent for a push that is still to come', async () => {
    await using stage = await open()
    const sync = await SyncClient.link(stage.ann, stage.library)
    const parent = await sync.head()
    const tree = makeTree({ 'large.bin': LARGE, folder: { 'small.bin': SMALL } }, sync.email)
    await sync.sendBlocks(tree)
    await stage.collect()
    await sync.sendObjects(tree)
    await stage.collect()
    const commit = sync.makeCommit(tree.root, parent)
    assert.equal((await sync.putCommit(commit)).status, 200)
    await stage.collect()
    assert.equal((await sync.putHead(commit.id)).status, 200)
    await stage.collect()
    const files = await sync.clone()
    assert.deepEqual(files.get('/large.bin'), LARGE)
    assert.deepEqual(files.get('/folder/small.bin'), SMALL)
  })

  it('what a sync client sends while a collection compares', async () => {
    await using stage = await open()
    const sync = await SyncClient.link(stage.ann, stage.library)
    const parent = await sync.head()
    const tree = makeTree({ 'large.bin': LARGE, 'small.bin': SMALL }, sync.email)
    // The collection has read what clients sent, and not yet what the library holds.
    const sent = beforeReading(stage, 'join condemned_reference', () => sync.sendBlocks(tree))
    await stage.server.running.services.gc.runOnce()
    await sent
    const commit = sync.makeCommit(tree.root, parent)
    assert.equal((await sync.putCommit(commit)).status, 200)
    await sync.sendObjects(tree)
    const reply = await sync.putHead(commit.id)
    assert.equal(reply.status, 200, reply.text)
    await stage.collect()
    assert.deepEqual((await sync.clone()).get('/large.bin'), LARGE)
  })

  it('what the client of a shared folder was shown', async () => {
    await using stage = await open()
    const { ann, library, server } = stage
    const ben = await server.signUp()
    const owner = await SyncClient.link(ann, library)
    await owner.push({ shared: { 'large.bin': LARGE, 'small.bin': SMALL }, other: 'not shared' })
    const sub = await shareWith(ann, library, ben, { path: '/shared', permission: 'rw' })
    const sync = await SyncClient.link(ben, sub)
    const before = await sync.head()
    await stage.collect()
    assert.deepEqual((await sync.clone()).get('/large.bin'), LARGE)
    await sync.push({ 'large.bin': LARGE, 'new.txt': 'new' }, before)
    await stage.collect()
    const files = await sync.clone()
    assert.deepEqual(files.get('/large.bin'), LARGE)
    assert.equal(String(files.get('/new.txt')), 'new')
    assert.deepEqual((await owner.clone()).get('/shared/large.bin'), LARGE)
  })
})
