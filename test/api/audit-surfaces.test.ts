import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'
import { asking, DavClient } from '../webdav/dav-client.ts'
import { shareWith } from './sharing-support.ts'

const PASSWORD = 'pass word 1'

describe('the audit log has the same entries of an action, whichever protocol asked for it', () => {
  let server: TestServer
  let admin: Client
  let ann: Client
  let ben: Client
  let library = ''
  before(async () => {
    server = await startServer()
    admin = await server.admin()
    ann = await server.signUp({ password: PASSWORD })
    ben = await server.signUp({ password: PASSWORD })
    library = await ann.createLibrary('Team')
    await shareWith(ann, library, ben, { permission: 'rw' })
    await uploadFile(ann, library, '/a.txt', 'a')
    // The first use of WebDAV on a day is an entry of its own.
    for (const { email } of [ann, ben]) await davOf(email).propfind('/dav/', '0')
  })
  after(() => server[Symbol.asyncDispose]())

  const davOf = (email: string, password = PASSWORD) => new DavClient(server.url, email, password)

  /** The entries written while `work` ran, oldest first, without their numbers and times. */
  const recorded = async (work: () => Promise<unknown>) => {
    const list = async (): Promise<{ id: number; time: string }[]> =>
      (await admin.get('/api/v2.1/admin/audit-log/', { per_page: 100 })).body.entries
    const newest = (await list())[0]?.id ?? 0
    await work()
    return (await list())
      .filter(({ id }) => id > newest)
      .map(({ id: _id, time: _time, ...entry }) => entry)
      .toReversed()
  }

  const lockByDav = (email: string, path: string) => davOf(email).lock(path, { Depth: 'infinity' })
  /** The token of the lock of an item, as everybody is shown it. */
  const tokenOf = async (dav: DavClient, path: string) => {
    const { text } = await dav.propfind(path, '0', asking('lockdiscovery'))
    return `<${/<d:locktoken><d:href>([^<]*)/.exec(text)?.[1]}>`
  }
  const unlockByDav = async (dav: DavClient, path: string): Promise<Reply> =>
    dav.call('UNLOCK', path, { headers: { 'Lock-Token': await tokenOf(dav, path) } })

  it('one of a lock that its holder did not end', async () => {
    const file = `/api/v2.1/repos/${library}/file/`
    const unlock = { query: { p: '/a.txt' }, form: { operation: 'unlock' } }
    const calls: Record<string, () => Promise<Reply>> = {
      'web API, file': () => ann.put(file, unlock),
      'web API, locks': () => ann.delete(`/api/v2.1/repos/${library}/locks/`, { query: { p: '/a.txt' } }),
      WebDAV: () => unlockByDav(davOf(ann.email), '/dav/Team/a.txt'),
    }
    const entry = {
      actor: ann.email,
      address: '127.0.0.1',
      action: 'lock-forced',
      object_kind: 'library',
      object_id: library,
      path: '/a.txt',
      detail: { name: 'Team' },
    }
    for (const [name, call] of Object.entries(calls)) {
      await lockByDav(ben.email, '/dav/Team/a.txt')
      const entries = await recorded(async () => {
        const reply = await call()
        assert.ok(reply.status < 300, `${name}: ${reply.status} ${reply.text}`)
      })
      assert.deepEqual(entries, [entry], name)
    }
  })

  it('none of a lock that may not be broken, and none of a lock of the caller', async () => {
    const sync = await SyncClient.link(ann, library)
    const entries = await recorded(async () => {
      await lockByDav(ben.email, '/dav/Team/a.txt')
      assert.equal((await sync.call('PUT', 'unlock-file?p=a.txt', '')).status, 403)
      assert.equal((await unlockByDav(davOf(ben.email), '/dav/Team/a.txt')).status, 204)
      for (const one of ['lock', 'unlock'])
        assert.equal((await sync.call('PUT', `${one}-file?p=a.txt`, '')).status, 200)
    })
    assert.deepEqual(entries, [])
  })

  it('none of a changed file', async () => {
    const sync = await SyncClient.link(ann, library)
    const dav = davOf(ann.email)
    const calls: Record<string, () => Promise<unknown>> = {
      'web API': () =>
        ann.post(`/api2/repos/${library}/dir/`, { query: { p: '/made' }, form: { operation: 'mkdir' } }),
      'web API, deletion': () => ann.delete(`/api2/repos/${library}/dir/`, { query: { p: '/made' } }),
      transfer: () => uploadFile(ann, library, '/b.txt', 'b'),
      WebDAV: () => dav.put('/dav/Team/c.txt', 'c'),
      'WebDAV, deletion': () => dav.call('DELETE', '/dav/Team/c.txt'),
      sync: () => sync.push({ 'a.txt': 'a', 'd.txt': 'd' }),
    }
    for (const [name, call] of Object.entries(calls)) {
      assert.deepEqual(await recorded(call), [], name)
    }
  })

  it('any number of an administrator', async () => {
    const { audit, core } = server.running.services
    const boss = await server.signUp({ password: PASSWORD })
    const mine = await boss.createLibrary('Own')
    await shareWith(boss, mine, ben, { permission: 'rw' })
    await uploadFile(boss, mine, '/a.txt', 'a')
    await davOf(boss.email).propfind('/dav/', '0')
    await admin.put(`/api/v2.1/admin/users/${boss.email}/`, { form: { is_staff: 'true' } })
    const entry = { action: 'lock-forced', objectKind: 'library', objectId: mine } as const
    await dbOf(core).write(async (tx) => {
      for (let count = 0; count < 3600; count += 1) {
        await audit.record(tx, { actor: boss.email, address: '' }, entry).catch(() => {})
      }
    })
    for (const end of [
      () => boss.delete(`/api/v2.1/repos/${mine}/locks/`, { query: { p: '/a.txt' } }),
      () => unlockByDav(davOf(boss.email), '/dav/Own/a.txt'),
    ]) {
      await lockByDav(ben.email, '/dav/Own/a.txt')
      const reply = await end()
      assert.ok(reply.status < 300, `${reply.status} ${reply.text}`)
    }
  })
})
