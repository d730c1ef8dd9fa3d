import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { LibraryId } from '../../src/base/objects/index.ts'
import type { LibraryPath } from '../../src/base/paths/index.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { insertLock } from '../../src/libraries/library/lock-store.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { asking, DavClient, LOCK } from './dav-client.ts'

const PASSWORD = 'pass word 1'

describe('locks of WebDAV', () => {
  let server: TestServer
  let now = 1_800_000_000
  let owner: Client
  let member: Client
  let mine: DavClient
  let theirs: DavClient
  let library = ''
  before(async () => {
    server = await startServer({ now: () => now })
    owner = await server.signUp({ password: PASSWORD })
    member = await server.signUp({ password: PASSWORD })
    library = await owner.createLibrary('Team')
    await owner.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: member.email, permission: 'rw' },
    })
    mine = new DavClient(server.url, owner.email, PASSWORD)
    theirs = new DavClient(server.url, member.email, PASSWORD)
  })
  after(() => server[Symbol.asyncDispose]())

  /** Ends the locks of the tests before. */
  const expireAll = () => {
    now += 13 * 3600
  }
  const upload = (client: Client, operation: string, path: string) =>
    client.put(`/api2/repos/${library}/file/`, { form: { p: path, operation } })
  const rename = (client: Client, path: string) =>
    client.post(`/api/v2.1/repos/${library}/file/`, {
      query: { p: path },
      form: { operation: 'rename', newname: 'renamed.txt' },
    })

  it('are locks of the product: others are refused by the web API', async () => {
    await mine.put('/dav/Team/a.txt', 'a')
    const token = await mine.lock('/dav/Team/a.txt')
    assert.match(token, /^<urn:uuid:/)
    assert.equal((await rename(member, '/a.txt')).status, 403)
    const detail = await member.get(`/api/v2.1/repos/${library}/dir/`, { p: '/' })
    const [entry] = detail.body.dirent_list.filter((one: { name: string }) => one.name === 'a.txt')
    assert.equal(entry.is_locked, true)
    const headers = { 'Lock-Token': token }
    assert.equal((await theirs.call('UNLOCK', '/dav/Team/a.txt', { headers })).status, 403)
    assert.equal((await mine.call('UNLOCK', '/dav/Team/a.txt', { headers })).status, 204)
    assert.equal((await mine.call('UNLOCK', '/dav/Team/a.txt', { headers })).status, 409)
  })

  it('of the web app are shown and obeyed', async () => {
    await mine.put('/dav/Team/b.txt', 'b')
    assert.equal((await upload(owner, 'lock', '/b.txt')).status, 200)
    const refused = await theirs.put('/dav/Team/b.txt', 'x')
    assert.equal(refused.status, 423)
    assert.match(refused.text, /<d:lock-token-submitted><d:href>\/dav\/Team\/b.txt</)
    assert.equal((await theirs.call('LOCK', '/dav/Team/b.txt', { body: LOCK })).status, 423)
    assert.equal((await theirs.call('DELETE', '/dav/Team/b.txt')).status, 423)
    const shown = await theirs.propfind('/dav/Team/b.txt', '0', asking('lockdiscovery'))
    assert.match(shown.text, /<d:exclusive\/>.*<d:owner>[^<]+<\/d:owner>/)
    // The account that holds it goes on, and its editor gets a token for it.
    assert.equal((await mine.put('/dav/Team/b.txt', 'bb')).status, 204)
    const token = await mine.lock('/dav/Team/b.txt')
    assert.match(token, /^<urn:uuid:/)
    assert.equal((await upload(owner, 'unlock', '/b.txt')).status, 200)
    assert.equal((await theirs.put('/dav/Team/b.txt', 'x')).status, 204)
  })

  it('need their token, even of the same account', async () => {
    await mine.put('/dav/Team/c.txt', 'c')
    const token = await mine.lock('/dav/Team/c.txt')
    assert.equal((await mine.put('/dav/Team/c.txt', 'x')).status, 423)
    assert.equal((await mine.put('/dav/Team/c.txt', 'cc', { If: `(${token})` })).status, 204)
    assert.equal((await theirs.put('/dav/Team/c.txt', 'x', { If: `(${token})` })).status, 423)
  })

  it('follow a rename, end with the item, and expire', async () => {
    await mine.put('/dav/Team/d.txt', 'd')
    const token = await mine.lock('/dav/Team/d.txt', { Timeout: 'Second-60' })
    const headers = { If: `(${token})`, Destination: '/dav/Team/e.txt' }
    assert.equal((await mine.call('MOVE', '/dav/Team/d.txt', { headers })).status, 201)
    assert.equal((await theirs.put('/dav/Team/e.txt', 'x')).status, 423)
    const renewed = await mine.call('LOCK', '/dav/Team/e.txt', {
      headers: { If: `(${token})`, Timeout: 'Second-120' },
    })
    assert.equal(renewed.status, 200)
    assert.match(renewed.text, /Second-120/)
    now += 121
    assert.equal((await theirs.put('/dav/Team/e.txt', 'x')).status, 204)
  })

  it('of a folder protect everything in it, on every surface', async () => {
    await mine.call('MKCOL', '/dav/Team/folder')
    await mine.put('/dav/Team/folder/f.txt', 'f')
    const token = await mine.lock('/dav/Team/folder/', { Depth: 'infinity' })
    assert.equal((await theirs.put('/dav/Team/folder/new.txt', 'x')).status, 423)
    assert.equal((await theirs.put('/dav/Team/folder/f.txt', 'x')).status, 423)
    assert.equal((await theirs.call('MKCOL', '/dav/Team/folder/sub')).status, 423)
    assert.equal((await rename(member, '/folder/f.txt')).status, 403)
    const made = await member.post(`/api2/repos/${library}/dir/`, {
      query: { p: '/folder/sub' },
      form: { operation: 'mkdir' },
    })
    assert.equal(made.status, 403)
    assert.equal((await upload(member, 'lock', '/folder/f.txt')).status, 403)
    assert.equal((await mine.put('/dav/Team/folder/new.txt', 'x', { If: `(${token})` })).status, 201)
    assert.equal((await theirs.put('/dav/Team/beside.txt', 'x')).status, 201)
  })

  it('of a name without a file create an empty file, as office suites do before they store one', async () => {
    const reply = await mine.call('LOCK', '/dav/Team/new.odt', { headers: { Depth: '0' }, body: LOCK })
    assert.equal(reply.status, 201)
    const token = reply.headers.get('lock-token') ?? ''
    assert.equal((await mine.call('GET', '/dav/Team/new.odt')).text, '')
    assert.equal((await mine.put('/dav/Team/new.odt', 'text', { If: `(${token})` })).status, 204)
    const headers = { 'Lock-Token': token }
    assert.equal((await mine.call('UNLOCK', '/dav/Team/new.odt', { headers })).status, 204)
  })

  it('of the Finder: an empty file first, then a lock, the content, and a file of attributes', async () => {
    for (const name of ['photo.jpg', '._photo.jpg']) {
      assert.equal((await mine.put(`/dav/Team/${name}`, '')).status, 201)
      const token = await mine.lock(`/dav/Team/${name}`, { Timeout: 'Second-600' })
      assert.equal((await mine.put(`/dav/Team/${name}`, 'bytes', { If: `(${token})` })).status, 204)
      const headers = { 'Lock-Token': token }
      assert.equal((await mine.call('UNLOCK', `/dav/Team/${name}`, { headers })).status, 204)
    }
  })

  it('of Explorer: times as properties while the file is locked', async () => {
    const locked = await mine.call('LOCK', '/dav/Team/win.txt', { body: LOCK })
    const headers = { If: `(${locked.headers.get('lock-token')})` }
    const body =
      '<D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop><Z:Win32LastModifiedTime>Tue, 17 Nov 2026 09:00:00 GMT</Z:Win32LastModifiedTime></D:prop></D:set></D:propertyupdate>'
    assert.match((await mine.call('PROPPATCH', '/dav/Team/win.txt', { headers, body })).text, /200 OK/)
    assert.equal((await mine.call('PROPPATCH', '/dav/Team/win.txt', { body })).status, 423)
  })

  describe('of somebody who may no longer write', () => {
    const shares = () => `/api2/repos/${library}/dir/shared_items/`
    const share = (form: Record<string, string>) =>
      owner.put(shares(), { query: { p: '/' }, form: { permission: 'rw', ...form } })
    let admin: Client
    let holder: Client
    let dav: DavClient
    beforeEach(async () => {
      expireAll()
      admin = await server.admin()
      holder = await server.signUp({ password: PASSWORD })
      dav = new DavClient(server.url, holder.email, PASSWORD)
    })
    const toHolder = () => ({ share_type: 'user', username: holder.email })
    const root = '/dav/Team/'

    /** Locks everything, expects that the owner is refused, then ends the right, and expects the lock to be gone with it. */
    async function endsWith(end: () => Promise<{ status: number; text: string }>, by = dav): Promise<void> {
      const token = await by.lock(root, { Depth: 'infinity', Timeout: 'Infinite' })
      assert.match(token, /^<urn:uuid:/)
      assert.equal((await mine.put('/dav/Team/mine.txt', 'x')).status, 423)
      assert.equal((await upload(owner, 'lock', '/mine.txt')).status, 403)
      const ended = await end()
      assert.ok(ended.status < 300, ended.text)
      assert.equal((await mine.put('/dav/Team/mine.txt', 'x')).status, 204)
      const shown = await mine.propfind('/dav/Team/mine.txt', '0', asking('lockdiscovery'))
      assert.match(shown.text, /<d:lockdiscovery\/>/)
      assert.equal((await upload(owner, 'lock', '/mine.txt')).status, 200)
      assert.equal((await upload(owner, 'unlock', '/mine.txt')).status, 200)
    }
    before(() => mine.put('/dav/Team/mine.txt', 'mine'))

    it('end with a share', async () => {
      await share(toHolder())
      await endsWith(() => owner.delete(shares(), { query: { p: '/', ...toHolder() } }))
    })

    it('end where a share becomes read-only', async () => {
      await share(toHolder())
      const form = { ...toHolder(), permission: 'r' }
      await endsWith(() => owner.post(shares(), { query: { p: '/', ...toHolder() }, form }))
    })

    it('end with the membership of a group', async () => {
      const { body: group } = await owner.post('/api/v2.1/groups/', { form: { name: 'Holders' } })
      const members = `/api/v2.1/groups/${group.id}/members/`
      await owner.post(members, { form: { email: holder.email } })
      await share({ share_type: 'group', group_id: String(group.id) })
      await endsWith(() => owner.delete(`${members}${holder.email}/`))
    })

    it('end with the account', async () => {
      await share(toHolder())
      const account = `/api/v2.1/admin/users/${holder.email}/`
      await endsWith(() => admin.put(account, { form: { is_active: 'false' } }))
    })

    it('end with the token they were taken with, and with nothing else of the account', async () => {
      await share(toHolder())
      const { token = '', id } = await personalToken(holder, { permission: 'rw' })
      const other = await personalToken(holder, { permission: 'rw' })
      const byToken = new DavClient(server.url, holder.email, token)
      await endsWith(async () => {
        await holder.delete(`/api/v2.1/personal-tokens/${other.id}/`)
        assert.equal((await mine.put('/dav/Team/mine.txt', 'x')).status, 423)
        return holder.delete(`/api/v2.1/personal-tokens/${id}/`)
      }, byToken)
    })
  })

  describe('of others', () => {
    const locks = () => `/api/v2.1/repos/${library}/locks/`
    const lockAll = () => theirs.lock('/dav/Team/', { Depth: 'infinity' })
    beforeEach(expireAll)

    it('are listed and ended by the owner and by administrators, and by nobody else', async () => {
      const admin = await server.admin()
      for (const who of [owner, admin]) {
        await lockAll()
        const { body } = await who.get(locks())
        const [lock] = body.lock_list.filter(({ path }: { path: string }) => path === '/')
        assert.deepEqual([lock.lock_owner, lock.with_content], [member.email, true])
        assert.equal((await member.get(locks())).status, 403)
        assert.equal((await member.delete(locks(), { query: { p: '/' } })).status, 403)
        assert.equal((await mine.put('/dav/Team/broken.txt', 'x')).status, 423)
        assert.equal((await who.delete(locks(), { query: { p: '/' } })).status, 200)
        assert.ok((await mine.put('/dav/Team/broken.txt', 'x')).status < 300)
        assert.equal((await who.delete(locks(), { query: { p: '/' } })).status, 200)
      }
      const { body } = await admin.get('/api/v2.1/admin/audit-log/', { action: 'lock-forced' })
      const actors = body.entries.map(({ actor }: { actor: string }) => actor)
      assert.deepEqual(actors.slice(0, 2), [admin.email, owner.email])
    })

    it('end with an UNLOCK of the owner, with the token that the lock is shown with', async () => {
      await lockAll()
      const { text } = await mine.propfind('/dav/Team/', '0', asking('lockdiscovery'))
      const headers = { 'Lock-Token': `<${/<d:locktoken><d:href>([^<]*)/.exec(text)?.[1]}>` }
      assert.equal((await mine.call('UNLOCK', '/dav/Team/', { headers })).status, 204)
      const token = await mine.lock('/dav/Team/', { Depth: 'infinity' })
      const theirHeaders = { 'Lock-Token': token }
      assert.equal((await theirs.call('UNLOCK', '/dav/Team/', { headers: theirHeaders })).status, 403)
      assert.equal((await mine.call('UNLOCK', '/dav/Team/', { headers: theirHeaders })).status, 204)
    })
  })

  it('of a folder protect shared folders in it, and end together with no properties of others', async () => {
    expireAll()
    await mine.call('MKCOL', '/dav/Team/above')
    await mine.call('MKCOL', '/dav/Team/above/shared')
    const guest = await server.signUp({ password: PASSWORD })
    await owner.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/above/shared' },
      form: { share_type: 'user', username: guest.email, permission: 'rw' },
    })
    const dav = new DavClient(server.url, guest.email, PASSWORD)
    assert.equal((await dav.put('/dav/shared/a.txt', 'a')).status, 201)
    const body =
      '<propertyupdate xmlns="DAV:"><set><prop><note xmlns="urn:x">kept</note></prop></set></propertyupdate>'
    assert.equal((await dav.call('PROPPATCH', '/dav/shared/a.txt', { body })).status, 207)
    const token = await mine.lock('/dav/Team/above/', { Depth: 'infinity' })
    assert.equal((await dav.put('/dav/shared/a.txt', 'b')).status, 423)
    const history = await owner.get(`/api/v2.1/repos/${library}/history/`, { per_page: 1 })
    const [{ commit_id: commit }] = history.body.data
    await mine.put('/dav/Team/later.txt', 'x')
    const reverted = await owner.post(`/api/v2.1/repos/${library}/commits/${commit}/revert/`)
    assert.equal(reverted.status, 200, reverted.text)
    const { text } = await dav.propfind('/dav/shared/a.txt', '0')
    assert.match(text, /<note xmlns="urn:x">kept</)
    assert.equal((await dav.put('/dav/shared/a.txt', 'b')).status, 423)
    assert.equal(
      (await mine.call('UNLOCK', '/dav/Team/above/', { headers: { 'Lock-Token': token } })).status,
      204,
    )
  })

  it('are limited for an account and for a library', async () => {
    const holder = await server.signUp({ password: PASSWORD })
    const dav = new DavClient(server.url, holder.email, PASSWORD)
    const { access, accounts, core } = server.running.services
    const account = await accounts.get(holder.email)
    const { key: accountKey } = account
    const { key: other } = await accounts.get(member.email)
    const fill = async (name: string, by: number, count: number) => {
      const id = await holder.createLibrary(name)
      const { info } = await access.open(account, id as LibraryId)
      await dbOf(core).write(async (tx) => {
        for (let index = 0; index < count; index += 1) {
          const path = `/${index}` as LibraryPath
          await insertLock(tx, info.key, { path, accountKey: by, lockedAt: now, expiresAt: null }, now)
        }
      })
    }
    const lock = async (path: string) =>
      (await dav.call('LOCK', path, { headers: { Depth: '0' }, body: LOCK })).status
    await fill('One', accountKey, 498)
    await fill('Two', other, 0)
    assert.deepEqual(
      [await lock('/dav/One/x'), await lock('/dav/Two/x'), await lock('/dav/Two/y')],
      [201, 201, 507],
    )
    assert.equal((await dav.put('/dav/Two/z', 'z')).status, 201)
    const id = (await holder.get('/api2/repos/', {})).body.find(
      (one: { name: string }) => one.name === 'Two',
    ).id
    const byApi = await holder.put(`/api2/repos/${id}/file/`, { form: { p: '/z', operation: 'lock' } })
    assert.equal(byApi.status, 400)
    assert.match(byApi.text, /at most 500 locks/)
  })
})
