import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
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
})
