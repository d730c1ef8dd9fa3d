import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client as PostgresClient } from 'pg'
import type { Client } from '../support/client.ts'
import { Nodes } from '../support/nodes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import type { TestServer } from '../support/server.ts'
import { DavClient, LOCK } from '../webdav/dav-client.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false
const PASSWORD = 'pass word 1'

describe('two nodes that lock a folder with its content and a file in it at the same instant', {
  skip,
}, () => {
  let postgres: PostgresServer
  let nodes: Nodes
  let first: TestServer
  let second: TestServer
  let user: Client
  let library = ''
  before(async () => {
    postgres = found as PostgresServer
    nodes = await Nodes.create(postgres)
    first = await nodes.start()
    second = await nodes.start()
    user = await first.signUp({ password: PASSWORD })
    library = await user.createLibrary('Team')
    const dav = new DavClient(first.url, user.email, PASSWORD)
    for (const folder of ['one', 'two']) {
      assert.equal((await dav.call('MKCOL', `/dav/Team/${folder}`)).status, 201)
      assert.equal((await dav.put(`/dav/Team/${folder}/file.txt`, 'text')).status, 201)
    }
  })
  after(async () => {
    await nodes[Symbol.asyncDispose]()
    await postgres[Symbol.asyncDispose]()
  })

  /** Starts both calls, and lets no lock be stored until both transactions have gone as far as they can. */
  async function atOnce(calls: readonly (() => Promise<{ status: number }>)[]): Promise<number[]> {
    const holder = new PostgresClient({ connectionString: nodes.env['CARREL_DATABASE'] })
    await holder.connect()
    try {
      await holder.query('begin')
      // Locks can be read, and not written.
      await holder.query('lock table file_lock in share mode')
      const replies = Promise.all(calls.map((call) => call()))
      const sql = `select count(distinct pid)::int as n from pg_locks where not granted
        and database = (select oid from pg_database where datname = current_database())`
      while (((await holder.query<{ n: number }>(sql)).rows[0]?.n ?? 0) < calls.length);
      await holder.query('commit')
      return (await replies).map(({ status }) => status).sort((a, b) => a - b)
    } finally {
      await holder.end()
    }
  }

  const deepLock = (node: TestServer, path: string) =>
    new DavClient(node.url, user.email, PASSWORD).call('LOCK', path, {
      headers: { Depth: 'infinity' },
      body: LOCK,
    })

  it('grant one of them', async () => {
    const statuses = await atOnce([
      () => deepLock(first, '/dav/Team/one/'),
      () => deepLock(second, '/dav/Team/one/file.txt'),
    ])
    assert.deepEqual(statuses, [200, 423])
  })

  it('grant one of them, also if the file is locked by the web app of another account', async () => {
    const member = await second.signUp()
    const shared = await user.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: member.email, permission: 'rw' },
    })
    assert.equal(shared.status, 200)
    const statuses = await atOnce([
      () => deepLock(first, '/dav/Team/two/'),
      () => member.put(`/api2/repos/${library}/file/`, { form: { p: '/two/file.txt', operation: 'lock' } }),
    ])
    assert.ok(
      [
        [200, 403],
        [200, 423],
      ].some((allowed) => allowed.join() === statuses.join()),
      statuses.join(),
    )
  })
})
