import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import type { Client } from '../support/client.ts'
import { at, Nodes } from '../support/nodes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import { PostgresProxy } from '../support/postgres-proxy.ts'
import { filePart, intoRoot, postForm, uploadFile, uploadLink } from '../support/transfer.ts'
import { DavClient } from '../webdav/dav-client.ts'

// A transaction of another database has no receipt here, and invalidates all cached rows.
const found = await findPostgres({ fsync: false, alone: true })
const skip = typeof found === 'string' ? found : false

const WARM_UP = 15
const ROUNDS = 20

describe('round trips to PostgreSQL of a node beside a busy one', { skip }, () => {
  let postgres: PostgresServer
  before(() => {
    postgres = found as PostgresServer
  })
  after(() => postgres[Symbol.asyncDispose]())

  it('are one for a listing, a file detail and a download, and few for a share link, a small upload and a WebDAV PUT', {
    timeout: 300_000,
  }, async (t) => {
    await using stack = new AsyncDisposableStack()
    const url = await postgres.createWithSchema()
    const proxy = stack.use(await PostgresProxy.start(url))
    const nodes = stack.use(await Nodes.create(postgres, { CARREL_DATABASE: url }))
    const busy = await nodes.start()
    const measured = await nodes.start({ env: { CARREL_DATABASE: proxy.url } })
    const user = await measured.signUp({ password: 'pass word 1' })
    const dav = new DavClient(measured.url, user.email, 'pass word 1')
    const library = await user.createLibrary('Measured')
    await uploadFile(user, library, '/a.txt', 'a')
    const shared = await user.post('/api/v2.1/share-links/', { json: { repo_id: library, path: '/a.txt' } })
    const { token } = shared.body as { token: string }
    const link = await uploadLink(user, library)
    const download = await user.get(`/api2/repos/${library}/file/?p=/a.txt&reuse=1`)
    const downloadPath = new URL(JSON.parse(download.text)).pathname
    const writer = at(busy, await busy.signUp())
    const others = await writer.createLibrary('Others')
    const otherLink = await uploadLink(writer, others)
    let written = 0
    const disturb = async () => {
      const { status } = await postForm(otherLink, [intoRoot, filePart(`${written++}.txt`)])
      assert.equal(status, 200)
    }
    const get = (path: string) => async (client: Client) => {
      const { status, text } = await client.get(path)
      assert.ok(status < 400, text)
    }
    let uploaded = 0
    const requests: Record<string, (client: Client) => Promise<void>> = {
      listing: get(`/api/v2.1/repos/${library}/dir/?p=/`),
      detail: get(`/api2/repos/${library}/file/detail/?p=/a.txt`),
      download: get(downloadPath),
      link: get(`/f/${token}/?dl=1`),
      upload: async () => {
        const { status } = await postForm(link, [intoRoot, filePart(`u${uploaded++}.txt`)])
        assert.equal(status, 200)
      },
      // Another URL each time.
      dav: async () => {
        const { status } = await dav.put(`/dav/Measured/d${uploaded++}.txt`, 'small')
        assert.equal(status, 201)
      },
    }
    const counts: Record<string, number> = {}
    for (const [name, request] of Object.entries(requests)) {
      const trips: number[] = []
      for (let round = 0; round < WARM_UP + ROUNDS; round++) {
        await disturb()
        const count = proxy.roundTrips
        await request(user)
        if (round >= WARM_UP) trips.push(proxy.roundTrips - count)
      }
      // Work in the background adds to most of them, such as the index of the files that were uploaded.
      counts[name] = Math.min(...trips)
      t.diagnostic(`${name}: ${trips.join(' ')}`)
    }
    t.diagnostic(JSON.stringify(counts))
    const most = { listing: 1, detail: 1, download: 1, link: 4, upload: 7, dav: 7 }
    for (const [name, limit] of Object.entries(most)) {
      assert.ok((counts[name] ?? Number.NaN) <= limit, `${name}: ${counts[name]}`)
    }
  })

  it('are not spent on rows of tables that the other node has not changed', async () => {
    const url = await postgres.createWithSchema()
    const onFatal = (error: Error) => assert.fail(error)
    await using here = await openDatabase({ kind: 'postgres', url }, { onFatal })
    for (const table of ['kept', 'changed'])
      await here.write((tx) => tx.run(`create table ${table} (id bigint primary key, value bigint not null)`))
    // Opened now, so that it knows the tables.
    await using there = await openDatabase({ kind: 'postgres', url }, { onFatal })
    const [kept, changed] = ['select * from kept', 'select value from changed'] as const
    await there.write((tx) => tx.run('insert into changed values (1, 0)'))
    const hits = () => here.cacheStatistics?.hits ?? 0
    let keptHits = 0
    for (let value = 1; value <= 100; value++) {
      await there.write((tx) => tx.run('update changed set value = ?', value))
      const before = hits()
      await here.get(kept)
      keptHits += hits() - before
      // A right that ended is refused by the next request.
      assert.deepEqual(await here.get(changed), { value })
      if (value % 10 === 0) {
        const failed = there.write(async (tx) => {
          await tx.run('update changed set value = -1')
          throw new Error('rolled back')
        })
        await assert.rejects(failed, /rolled back/)
        assert.deepEqual(await here.get(changed), { value })
      }
    }
    assert.ok(keptHits > 20, `${keptHits} hits`)
  })
})
