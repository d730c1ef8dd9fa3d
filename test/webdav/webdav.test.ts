import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { clearPropfindCache } from '../../src/surfaces/webdav/index.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { asking, DavClient } from './dav-client.ts'

const PASSWORD = 'pass word 1'
const SECRET = 'davSecret-1'
/** As rclone asks for checksums. */
const CHECKSUMS =
  '<d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><d:displayname/><d:getlastmodified/><d:getcontentlength/><d:resourcetype/><oc:checksums/><oc:permissions/></d:prop></d:propfind>'

describe('WebDAV', () => {
  let server: TestServer
  let user: Client
  let dav: DavClient
  let library = ''
  before(async () => {
    server = await startServer()
    user = await server.signUp({ password: PASSWORD })
    library = await user.createLibrary('Notes')
    dav = new DavClient(server.url, user.email, PASSWORD)
  })
  after(() => server[Symbol.asyncDispose]())

  describe('sign-in', () => {
    const root = (name: string, secret: string) =>
      new DavClient(server.url, name, secret).propfind('/dav/', '0')

    it('asks for a name and a password, except for OPTIONS', async () => {
      const reply = await server.anonymous.call('PROPFIND', '/dav/')
      assert.equal(reply.status, 401)
      assert.match(reply.headers.get('www-authenticate') ?? '', /^Basic realm=/)
      const options = await server.anonymous.call('OPTIONS', '/seafdav/x')
      assert.deepEqual([options.status, options.headers.get('dav')], [200, '1, 2'])
    })

    it('takes the account password until there is a WebDAV password, and that one until it is removed', async () => {
      const other = await server.signUp({ password: PASSWORD })
      assert.equal((await root(other.email, PASSWORD)).status, 207)
      await other.put('/api/v2.1/webdav-secret/', { form: { secret: SECRET } })
      assert.equal((await root(other.email, PASSWORD)).status, 401)
      assert.equal((await root(other.email, SECRET)).status, 207)
      assert.equal((await root(other.email, SECRET)).status, 207)
      await other.put('/api/v2.1/webdav-secret/', { form: { secret: '' } })
      assert.equal((await root(other.email, SECRET)).status, 401)
      assert.equal((await root(other.email, PASSWORD)).status, 207)
    })

    it('takes a personal token within its scope, until it is revoked', async () => {
      const made = await user.post('/api/v2.1/personal-tokens/', {
        json: { name: 'dav', permission: 'r' },
      })
      const token: string = made.body.token
      const reader = new DavClient(server.url, user.email, token)
      assert.equal((await reader.propfind('/dav/Notes/', '1')).status, 207)
      assert.equal((await reader.put('/dav/Notes/no.txt', 'x')).status, 403)
      const bearer = { headers: { Authorization: `Bearer ${token}`, Depth: '0' } }
      assert.equal((await server.anonymous.call('PROPFIND', '/dav/Notes/', bearer)).status, 207)
      const stranger = await server.signUp()
      assert.equal((await root(stranger.email, token)).status, 401)
      await user.delete(`/api/v2.1/personal-tokens/${made.body.id}/`)
      assert.equal((await reader.propfind('/dav/Notes/', '1')).status, 401)
    })

    it('throttles wrong passwords like sign-ins', async () => {
      await using limited = await startServer({ env: { CARREL_RATE_LIMIT: 'on' } })
      const victim = await limited.signUp({ password: PASSWORD })
      const guess = () => new DavClient(limited.url, victim.email, 'wrong').propfind('/dav/', '0')
      const statuses = await Promise.all(Array.from({ length: 14 }, guess))
      assert.ok(statuses.some(({ status }) => status === 429))
    })
  })

  it('lists libraries, shared folders and group libraries, and distinguishes equal names', async () => {
    const friend = await server.signUp()
    const theirs = await friend.createLibrary('Notes')
    const share = { share_type: 'user', username: user.email, permission: 'r' }
    const shared = await friend.put(`/api2/repos/${theirs}/dir/shared_items/`, {
      query: { p: '/' },
      form: share,
    })
    assert.equal(shared.status, 200, shared.text)
    const other = `Notes (${theirs.slice(0, 6)})`
    assert.deepEqual(await dav.names('/dav/'), ['Notes', other])
    assert.equal((await dav.put('/dav/Notes/mine.txt', 'mine')).status, 201)
    assert.equal((await dav.put(`/dav/${encodeURIComponent(other)}/no.txt`, 'x')).status, 403)
    assert.deepEqual(await dav.names(`/dav/${encodeURIComponent(other)}`), [])
    // A right that ended is refused with the next request.
    await friend.delete(`/api2/repos/${theirs}/dir/shared_items/`, {
      query: { p: '/', share_type: 'user', username: user.email },
    })
    assert.equal((await dav.propfind(`/dav/${encodeURIComponent(other)}/`, '1')).status, 404)
    assert.equal((await dav.call('MKCOL', '/dav/New')).status, 404)
    assert.equal((await dav.call('DELETE', '/dav/Notes')).status, 403)
  })

  it('stores files as other clients see them, with the file id as entity tag', async () => {
    const bytes = randomBytes(3_000_000)
    const stored = await dav.put('/dav/Notes/größe.bin', bytes, { 'X-OC-Mtime': '1700000000' })
    assert.equal(stored.status, 201)
    const detail = await user.get(`/api2/repos/${library}/file/detail/`, { p: '/größe.bin' })
    assert.equal(`"${detail.body.id}"`, stored.headers.get('etag'))
    assert.deepEqual([detail.body.size, detail.body.mtime], [bytes.length, 1_700_000_000])
    const part = await fetch(`${server.url}/seafdav/Notes/gr%C3%B6%C3%9Fe.bin`, {
      headers: { Authorization: basic(user.email, PASSWORD), Range: 'bytes=1000000-1000009' },
    })
    assert.deepEqual(
      [part.status, Buffer.from(await part.arrayBuffer())],
      [206, bytes.subarray(1_000_000, 1_000_010)],
    )
    const same = { 'If-None-Match': stored.headers.get('etag') ?? '' }
    assert.equal((await dav.call('GET', '/dav/Notes/gr%C3%B6%C3%9Fe.bin', { headers: same })).status, 304)
  })

  it('replaces a file only if it is the one that was read', async () => {
    const { headers } = await dav.put('/dav/Notes/a.txt', 'one')
    const etag = headers.get('etag') ?? ''
    assert.equal((await dav.put('/dav/Notes/a.txt', 'two', { 'If-Match': etag })).status, 204)
    assert.equal((await dav.put('/dav/Notes/a.txt', 'three', { 'If-Match': etag })).status, 412)
    assert.equal((await dav.put('/dav/Notes/a.txt', 'four', { 'If-None-Match': '*' })).status, 412)
    assert.equal((await dav.put('/dav/Notes/a.txt', 'five', { If: `([${etag}])` })).status, 412)
    assert.equal((await dav.call('GET', '/dav/Notes/a.txt')).text, 'two')
  })

  it('refuses early what cannot be stored', async () => {
    assert.equal((await dav.put('/dav/Notes/no/such/folder.txt', 'x')).status, 409)
    assert.equal((await dav.put('/dav/Notes/part.txt', 'x', { 'Content-Range': 'bytes 0-0/2' })).status, 400)
    assert.equal((await dav.put('/dav/Notes/back%5Cslash', 'x')).status, 400)
    await dav.call('MKCOL', '/dav/Notes/folder')
    assert.equal((await dav.put('/dav/Notes/folder', 'x')).status, 405)
    const admin = await server.admin()
    await admin.put(`/api/v2.1/admin/users/${user.email}/`, { form: { quota_total: 4 } })
    const over = await dav.put('/dav/Notes/large.bin', Buffer.alloc(5_000_000))
    assert.equal(over.status, 507)
    const quota = await dav.propfind('/dav/Notes/', '0', asking('quota-available-bytes', 'quota-used-bytes'))
    assert.match(
      quota.text,
      /<d:quota-available-bytes>\d+<\/d:quota-available-bytes><d:quota-used-bytes>\d+</,
    )
    await admin.put(`/api/v2.1/admin/users/${user.email}/`, { form: { quota_total: 0 } })
  })

  it('moves and copies with one commit, between libraries, too', async () => {
    const commits = async () =>
      (await user.get(`/api/v2.1/repos/${library}/history/`, { per_page: 100 })).body.data.length
    await dav.call('MKCOL', '/dav/Notes/tree')
    await dav.put('/dav/Notes/tree/a.txt', 'a')
    const before = await commits()
    const to = (path: string) => ({ headers: { Destination: `${server.url}${path}` } })
    assert.equal((await dav.call('COPY', '/dav/Notes/tree', to('/dav/Notes/copy'))).status, 201)
    assert.equal((await dav.call('MOVE', '/dav/Notes/tree', to('/seafdav/Notes/copy'))).status, 204)
    assert.equal(await commits(), before + 2)
    await user.createLibrary('Other')
    assert.equal((await dav.call('MOVE', '/dav/Notes/copy', to('/dav/Other/moved'))).status, 201)
    assert.equal((await dav.call('GET', '/dav/Other/moved/a.txt')).text, 'a')
    assert.equal((await dav.call('GET', '/dav/Notes/copy/a.txt')).status, 404)
    assert.equal((await dav.call('MOVE', '/dav/Other/moved', to('/dav/Other/moved/in'))).status, 403)
  })

  it('understands odd Destination headers', async () => {
    await dav.put('/dav/Notes/odd.txt', 'odd')
    const move = async (from: string, destination: string) =>
      (await dav.call('MOVE', from, { headers: { Destination: destination } })).status
    const host = new URL(server.url).hostname
    assert.equal(await move('/dav/Notes/odd.txt', '/dav/Notes/a path.txt'), 201)
    assert.equal(await move('/dav/Notes/a%20path.txt', `https://${host}/dav/Notes/tls.txt`), 201)
    assert.equal(await move('/dav/Notes/tls.txt', `http://${host}:99/dav//Notes/port%2etxt`), 201)
    const latin = Buffer.from('/dav/Notes/größe.txt').toString('latin1')
    assert.equal(await move('/dav/Notes/port.txt', latin), 201)
    assert.equal(await move('/dav/Notes/größe.txt', 'http://elsewhere.example/dav/Notes/x'), 502)
    assert.equal(await move('/dav/Notes/größe.txt', '/dav/Notes/../../x'), 400)
    assert.equal(await move('/dav/Notes/größe.txt', '/elsewhere/x'), 400)
    assert.equal(await move('/dav/Notes/größe.txt', ''), 400)
  })

  it('lists one level, and refuses to list a whole tree', async () => {
    const reply = await dav.propfind('/dav/Notes/', 'infinity')
    assert.equal(reply.status, 403)
    assert.match(reply.text, /<d:propfind-finite-depth>/)
    const listed = await dav.propfind('/dav/Notes/', '1', asking('getetag', 'resourcetype', 'unknown'))
    assert.equal(listed.status, 207)
    assert.match(listed.text, /<d:unknown\/><\/d:prop><d:status>HTTP\/1.1 404/)
  })

  it('lists a folder again as it is now, however it was changed', async () => {
    const asked = asking('resourcetype', 'displayname', 'getcontentlength', 'getlastmodified', 'getetag')
    const list = async () => (await dav.propfind('/dav/Notes/again/', '1', asked)).text
    const time =
      '<propertyupdate xmlns="DAV:"><set><prop><Win32LastModifiedTime xmlns="urn:schemas-microsoft-com:">Tue, 14 Nov 2023 22:13:20 GMT</Win32LastModifiedTime></prop></set></propertyupdate>'
    const to = (path: string) => ({ headers: { Destination: `${server.url}${path}` } })
    await dav.call('MKCOL', '/dav/Notes/again')
    const changes: (() => Promise<{ status: number }>)[] = [
      () => dav.put('/dav/Notes/again/a.txt', 'one'),
      () => dav.put('/dav/Notes/again/a.txt', 'three'),
      () => dav.call('PROPPATCH', '/dav/Notes/again/a.txt', { body: time }),
      () => dav.call('MKCOL', '/dav/Notes/again/sub'),
      () => dav.put('/dav/Notes/again/sub/b%20%26.txt', 'b'),
      () => dav.call('MOVE', '/dav/Notes/again/sub/b%20%26.txt', to('/dav/Notes/again/b%20%26.txt')),
      () => user.delete(`/api2/repos/${library}/file/`, { query: { p: '/again/a.txt' } }),
      () => dav.call('DELETE', '/dav/Notes/again/sub'),
    ]
    let before = await list()
    for (const [index, change] of changes.entries()) {
      assert.ok((await change()).status < 300, `change ${index}`)
      const listed = await list()
      assert.notEqual(listed, before, `change ${index}`)
      assert.equal(await list(), listed)
      clearPropfindCache()
      assert.equal(await list(), listed)
      before = listed
    }
    // The same folder with another URL.
    assert.match(
      (await dav.propfind('/seafdav/Notes/again/', '1', asked)).text,
      /<d:href>\/seafdav\/Notes\/again\/b/,
    )
    // For somebody else: before, during and after a share.
    const guest = await server.signUp({ password: PASSWORD })
    const theirs = new DavClient(server.url, guest.email, PASSWORD)
    const read = async () => theirs.propfind('/dav/Notes/again/', '1', asked)
    assert.equal((await read()).status, 404)
    const shares = `/api2/repos/${library}/dir/shared_items/`
    const grantee = { share_type: 'user', username: guest.email }
    await user.put(shares, { query: { p: '/' }, form: { ...grantee, permission: 'r' } })
    for (let times = 0; times < 2; times += 1) assert.equal((await read()).text, before)
    await user.delete(shares, { query: { p: '/', ...grantee } })
    assert.equal((await read()).status, 404)
  })

  it('streams the listing of 10,000 entries', async () => {
    const large = await user.createLibrary('Large')
    const paths = Array.from({ length: 10_000 }, (_, index) => `/folder ${index}`)
    for (let from = 0; from < paths.length; from += 1000) {
      const made = await user.post('/api/v2.1/repos/batch-create-dir/', {
        json: { repo_id: large, paths: paths.slice(from, from + 1000) },
      })
      assert.equal(made.status, 200, made.text)
    }
    assert.equal((await dav.names('/dav/Large/')).length, 10_000)
  })

  it('keeps properties with an item that is renamed, copied or moved by anybody', async () => {
    const set = (value: string) =>
      `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x:color xmlns:x="urn:x">${value}</x:color></D:prop></D:set></D:propertyupdate>`
    const color = async (path: string) => {
      const body = '<propfind xmlns="DAV:"><prop><color xmlns="urn:x"/></prop></propfind>'
      return /<color xmlns="urn:x">([^<]*)</.exec((await dav.propfind(path, '0', body)).text)?.[1]
    }
    await dav.put('/dav/Notes/p.txt', 'p')
    assert.equal((await dav.call('PROPPATCH', '/dav/Notes/p.txt', { body: set('a &lt; b') })).status, 207)
    assert.equal(await color('/dav/Notes/p.txt'), 'a &#60; b')
    const renamed = await user.post(`/api/v2.1/repos/${library}/file/`, {
      query: { p: '/p.txt' },
      form: { operation: 'rename', newname: 'q.txt' },
    })
    assert.equal(renamed.status, 200, renamed.text)
    assert.equal(await color('/dav/Notes/q.txt'), 'a &#60; b')
    await dav.call('COPY', '/dav/Notes/q.txt', { headers: { Destination: '/dav/Other/r.txt' } })
    assert.equal(await color('/dav/Other/r.txt'), 'a &#60; b')
    await dav.call('DELETE', '/dav/Notes/q.txt')
    await dav.put('/dav/Notes/q.txt', 'another')
    assert.equal(await color('/dav/Notes/q.txt'), undefined)
    const live = set('x').replaceAll('x:color', 'D:getetag')
    assert.match((await dav.call('PROPPATCH', '/dav/Notes/q.txt', { body: live })).text, /403 Forbidden/)
  })

  it('takes the times of Windows: the last change becomes that of the file, the creation is stored', async () => {
    const set = (name: string, value: string, namespace = 'urn:schemas-microsoft-com:') =>
      `<propertyupdate xmlns="DAV:"><set><prop><z:${name} xmlns:z="${namespace}">${value}</z:${name}></prop></set></propertyupdate>`
    const patch = async (path: string, body: string) => {
      const reply = await dav.call('PROPPATCH', path, { body })
      return [reply.status, /HTTP\/1\.1 (\d+)/.exec(reply.text)?.[1]]
    }
    const times = async (path: string) => {
      const { text } = await dav.propfind(path, '0', asking('creationdate', 'getlastmodified'))
      return [/<d:creationdate>([^<]*)/.exec(text)?.[1], /<d:getlastmodified>([^<]*)/.exec(text)?.[1]]
    }
    const file = '/dav/Notes/times.txt'
    await dav.put(file, 'times', { 'X-OC-Mtime': '1700000000' })
    const modified = 'Tue, 14 Nov 2023 22:13:20 GMT'
    assert.deepEqual(await times(file), ['2023-11-14T22:13:20Z', modified])
    const changed = 'Thu, 01 Aug 2019 10:20:30 GMT'
    assert.deepEqual(await patch(file, set('Win32LastModifiedTime', changed)), [207, '200'])
    assert.deepEqual(await times(file), ['2019-08-01T10:20:30Z', changed])
    assert.deepEqual(await patch(file, set('Win32CreationTime', 'Mon, 01 Jul 2019 00:00:00 GMT')), [
      207,
      '200',
    ])
    assert.deepEqual(await times(file), ['2019-07-01T00:00:00Z', changed])
    const all = await dav.propfind(file, '0')
    assert.equal(all.text.match(/<d:creationdate>/g)?.length, 1)
    const asked =
      '<propfind xmlns="DAV:"><prop><Win32LastModifiedTime xmlns="urn:schemas-microsoft-com:"/></prop></propfind>'
    assert.ok((await dav.propfind(file, '0', asked)).text.includes(changed))
    assert.deepEqual(await patch(file, set('creationdate', '2018-01-02T03:04:05Z', 'DAV:')), [207, '200'])
    assert.deepEqual(await times(file), ['2018-01-02T03:04:05Z', changed])
    // A time that cannot be read changes nothing, and is no reason to refuse the other properties of Windows.
    assert.deepEqual(await patch(file, set('Win32LastModifiedTime', 'yesterday')), [207, '200'])
    assert.deepEqual(await times(file), ['2018-01-02T03:04:05Z', changed])
    const folder = '/dav/Notes/times'
    await dav.call('MKCOL', folder)
    assert.deepEqual(await patch(folder, set('Win32LastModifiedTime', changed)), [207, '200'])
    assert.equal((await times(folder))[1], changed)
    const { body } = await user.get(`/api2/repos/${library}/file/detail/`, { p: '/times.txt' })
    assert.equal(body.mtime, Date.parse(changed) / 1000)
  })

  it('takes the time of ownCloud clients, and none that it would not keep', async () => {
    const file = '/dav/Notes/touched.txt'
    const patch = async (value: string, others = '') => {
      // As rclone sends it.
      const body = `<?xml version="1.0" encoding="utf-8" ?>
<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><lastmodified xmlns="DAV:">${value}</lastmodified>${others}</D:prop></D:set></D:propertyupdate>`
      const { status, text } = await dav.call('PROPPATCH', file, { body })
      return [status, ...Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, code]) => Number(code))]
    }
    const time = async () => {
      const { text } = await dav.propfind(file, '0', asking('getlastmodified', 'lastmodified'))
      return [/<d:getlastmodified>([^<]*)/.exec(text)?.[1], /<d:lastmodified>([^<]*)/.exec(text)?.[1]]
    }
    const sent = await dav.put(file, 'x', { 'X-OC-Mtime': '1700000000' })
    assert.equal(sent.headers.get('x-oc-mtime'), 'accepted')
    assert.deepEqual(await patch('1564654830'), [207, 200])
    assert.deepEqual(await time(), ['Thu, 01 Aug 2019 10:20:30 GMT', '1564654830'])
    // All or none, and nothing is stored besides the time.
    const color = '<color xmlns="urn:x">red</color>'
    const ahead = Math.floor(Date.now() / 1000) + 3 * 86_400
    for (const value of ['yesterday', '', '-1', String(ahead)]) {
      assert.deepEqual(await patch(value, color), [207, 409, 424], value)
    }
    assert.deepEqual(await time(), ['Thu, 01 Aug 2019 10:20:30 GMT', '1564654830'])
    assert.doesNotMatch((await dav.propfind(file, '0')).text, /lastmodified>1564654830|>red</)
    // A time that is not believed is not confirmed.
    assert.equal((await dav.put(file, 'x', { 'X-OC-Mtime': String(ahead) })).headers.get('x-oc-mtime'), null)
  })

  it('stores nothing of a file that does not have the checksum sent with it', async () => {
    const put = async (path: string, body: string | Uint8Array, sum: string) =>
      (await dav.put(path, body, { 'OC-Checksum': sum })).status
    const of = (algorithm: string, body: string | Uint8Array) =>
      createHash(algorithm).update(body).digest('hex')
    const large = randomBytes(300_000)
    for (const [name, body] of [
      ['empty', ''],
      ['small', 'small'],
      ['large', large],
    ] as const) {
      const path = `/dav/Notes/sum ${name}`
      for (const wrong of [
        'SHA1:00',
        `SHA1:${of('sha1', 'other')}`,
        `MD5:${of('md5', 'other')}`,
        'sha256:',
      ]) {
        const reply = await dav.put(path, body, { 'OC-Checksum': wrong })
        assert.deepEqual([reply.status, /<c:message>/.test(reply.text)], [400, true], `${name} ${wrong}`)
      }
      assert.equal(await put(path, body, `SHA1:${of('sha1', body)} MD5:${of('md5', 'other')}`), 400)
      assert.equal((await dav.propfind(path, '0')).status, 404)
      assert.equal(await put(path, body, `SHA1:${of('sha1', body).toUpperCase()}`), 201)
      assert.equal(await put(path, body, `MD5:${of('md5', body)}`), 204)
      // As ownCloud does, what is not known is ignored.
      assert.equal(await put(path, body, 'ADLER32:00000000'), 204)
      assert.equal(await put(path, 'changed', `SHA1:${of('sha1', 'another change')}`), 400)
      assert.deepEqual((await dav.call('GET', path)).text, Buffer.from(body).toString())
    }
  })

  it('offers checksums of files, of any content that was sent with one and of one block', async () => {
    const folder = '/dav/Notes/checksums'
    await dav.call('MKCOL', folder)
    const of = (algorithm: string, body: string | Uint8Array) =>
      createHash(algorithm).update(body).digest('hex')
    const both = (body: string | Uint8Array) => `SHA1:${of('sha1', body)} MD5:${of('md5', body)}`
    const shown = async (depth = '1', path = folder) => {
      const { text } = await dav.propfind(path, depth, CHECKSUMS)
      const items = text.matchAll(/<d:displayname>([^<]*)<(?:(?!<d:response>)[^])*/g)
      return Object.fromEntries(
        Array.from(items, ([xml, name = '']) => [
          name,
          /<(?:n1:)?checksum[ >][^>]*?>?([A-Z0-9: a-f]*)<\//.exec(xml)?.[1],
        ]),
      )
    }
    // Of several blocks, as random bytes of this size always are.
    const large = randomBytes(20_000_000)
    await dav.put(`${folder}/by md5`, large, { 'OC-Checksum': `MD5:${of('md5', large)}` })
    await dav.put(`${folder}/by sha1`, 'two', { 'OC-Checksum': `SHA1:${of('sha1', 'two')}` })
    await dav.put(`${folder}/plain`, 'three')
    await dav.put(`${folder}/many blocks`, randomBytes(20_000_000))
    await dav.put(`${folder}/empty`, '')
    await dav.call('MKCOL', `${folder}/folder`)
    const expected = {
      checksums: undefined,
      'by md5': both(large),
      'by sha1': both('two'),
      plain: `SHA1:${of('sha1', 'three')}`,
      'many blocks': undefined,
      empty: both(''),
      folder: undefined,
    }
    assert.deepEqual(await shown(), expected)
    assert.deepEqual(await shown(), expected)
    assert.deepEqual(await shown('0', `${folder}/by%20md5`), { 'by md5': both(large) })
    // They follow the content, and are not those of the content before.
    await dav.call('MOVE', `${folder}/by%20md5`, { headers: { Destination: `${folder}/folder/moved` } })
    assert.deepEqual(await shown('0', `${folder}/folder/moved`), { moved: both(large) })
    await dav.put(`${folder}/by%20sha1`, 'other')
    assert.equal((await shown())['by sha1'], `SHA1:${of('sha1', 'other')}`)

    // rclone sends the checksum that it was told with a new time.
    const patch = async (sum: string) => {
      const body = `<D:propertyupdate xmlns:D="DAV:" xmlns:oc="http://owncloud.org/ns"><D:set><D:prop><lastmodified xmlns="DAV:">1564654830</lastmodified><oc:checksums>
	<oc:checksum>${sum}</oc:checksum></oc:checksums></D:prop></D:set></D:propertyupdate>`
      const { text } = await dav.call('PROPPATCH', `${folder}/plain`, { body })
      return Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, code]) => Number(code))
    }
    assert.deepEqual(await patch(`SHA1:${of('sha1', 'another')}`), [409, 424])
    assert.deepEqual(await patch(`SHA1:${of('sha1', 'three')}`), [200])
    const { text } = await dav.propfind(`${folder}/plain`, '0')
    assert.match(text, /Thu, 01 Aug 2019 10:20:30 GMT/)
    assert.doesNotMatch(text, /checksum[ >]/)
  })

  it('reads what checksums it offers with one statement, and none for a folder that was listed before', async () => {
    // A server of its own, whose indexes are stopped: they read the objects of new commits at a time of their own, which would be counted.
    await using own = await startServer()
    const owner = await own.signUp({ password: PASSWORD })
    await owner.createLibrary('Notes')
    const client = new DavClient(own.url, owner.email, PASSWORD)
    await client.call('MKCOL', '/dav/Notes/sums')
    for (const name of ['a', 'b', 'c']) {
      const sum = createHash('md5').update(name).digest('hex')
      await client.put(`/dav/Notes/sums/${name}`, name, name === 'c' ? { 'OC-Checksum': `MD5:${sum}` } : {})
    }
    const { core, db } = own.running.services
    await core.commitConsumer.stop()
    const listed = async () => (await client.propfind('/dav/Notes/sums', '1', CHECKSUMS)).text
    assert.equal((await listed()).match(/SHA1:[0-9a-f]{40}/g)?.length, 3)
    clearPropfindCache()
    // Of the folder itself, nothing stored is read.
    const reads = async () => {
      const statements: string[] = []
      for (const name of ['get', 'all'] as const) {
        const real = db[name].bind(db) as (sql: string, ...rest: never[]) => never
        db[name] = (sql: string, ...rest: never[]) => {
          statements.push(sql)
          return real(sql, ...rest)
        }
      }
      await listed()
      for (const name of ['get', 'all'] as const) delete (db as Partial<typeof db>)[name]
      return statements.filter((sql) => /fs_object|webdav_property/.test(sql)).length
    }
    assert.deepEqual([await reads(), await reads()], [1, 0])
  })

  it('says how much space there is, for an account without a quota, too', async () => {
    const other = await server.signUp({ password: PASSWORD })
    const admin = await server.admin()
    const library = await other.createLibrary('Own')
    const theirs = new DavClient(server.url, other.email, PASSWORD)
    await theirs.put('/dav/Own/a.txt', 'x'.repeat(1000))
    await other.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: user.email, permission: 'rw' },
    })
    const quota = async (client: DavClient, path: string, depth = '0') => {
      const asked = asking('quota-available-bytes', 'quota-used-bytes')
      const { text } = await client.propfind(path, depth, asked)
      assert.doesNotMatch(text, /404/)
      const found = text.matchAll(/bytes>(\d+)<\/d:quota-available-bytes><d:quota-used-bytes>(\d+)</g)
      return Array.from(found, ([, available, used]) => [Number(available), Number(used)])
    }
    const [root, listed] = await quota(theirs, '/dav/', '1')
    const [folder] = await quota(theirs, '/dav/Own/')
    for (const [available = 0, used] of [root ?? [], listed ?? [], folder ?? []]) {
      assert.ok(available > 2 ** 20, `${available}`)
      assert.equal(used, 1000)
    }
    await admin.put(`/api/v2.1/admin/users/${other.email}/`, { form: { quota_total: 1 } })
    for (const path of ['/dav/', '/dav/Own/']) assert.deepEqual(await quota(theirs, path), [[999_000, 1000]])
    assert.deepEqual(await quota(dav, '/dav/Own/'), [[999_000, 1000]])
  })

  it('refuses control characters in new names, and keeps items that have some', async () => {
    const folder = '/dav/Notes/controls'
    await dav.call('MKCOL', folder)
    await dav.put(`${folder}/a`, 'a')
    for (const escaped of ['%01', '%7f', '%C2%80', 'a%C2%85', '%C2%9F']) {
      assert.equal((await dav.put(`${folder}/${escaped}`, 'x')).status, 400, escaped)
      assert.equal((await dav.call('MKCOL', `${folder}/${escaped}`)).status, 400, escaped)
      const headers = { Destination: `${folder}/${escaped}` }
      assert.equal((await dav.call('MOVE', `${folder}/a`, { headers })).status, 400, escaped)
      const name = decodeURIComponent(escaped)
      const file = await user.post(`/api2/repos/${library}/file/`, {
        query: { p: `/${name}` },
        form: { operation: 'create' },
      })
      assert.equal(file.status, 400, escaped)
      const made = await user.post('/api/v2.1/repos/', { form: { repo_name: name } })
      assert.equal(made.status, 400, escaped)
    }
    assert.deepEqual(await dav.names(folder), ['a'])
    // A sync client stores what its disk has.
    const synced = await SyncClient.link(user, await user.createLibrary('Synced'))
    await synced.push({ 'a\u007f': 'one', 'b\u0085': 'two', 'c\u0001': 'three' })
    const names = ['a\u007f', 'b\u0085', 'c\u0001']
    assert.deepEqual(await dav.names('/dav/Synced/'), names)
    for (const [index, name] of names.entries()) {
      const path = `/dav/Synced/${encodeURIComponent(name)}`
      assert.equal((await dav.call('GET', path)).text, ['one', 'two', 'three'][index])
      assert.equal((await dav.put(path, 'changed')).status, 204)
      const headers = { Destination: `/dav/Synced/renamed-${index}` }
      assert.equal(
        (await dav.call(index === 0 ? 'DELETE' : 'MOVE', path, { headers })).status,
        index ? 201 : 204,
      )
    }
    assert.deepEqual(await dav.names('/dav/Synced/'), ['renamed-1', 'renamed-2'])
  })

  it('answers a URL that is not UTF-8 with 400 and an error in XML', async () => {
    for (const path of ['/dav/Notes/%ff', '/dav/%c3%28/x', '/seafdav/Notes/a%', '/dav/Notes/%ed%a0%80']) {
      for (const method of ['PROPFIND', 'GET', 'PUT', 'MKCOL', 'DELETE', 'PROPPATCH', 'LOCK']) {
        const reply = await dav.call(method, path, { headers: { Depth: '0' } })
        assert.equal(reply.status, 400, `${method} ${path}`)
        assert.match(reply.text, /^<\?xml[^]*<d:error [^]*<c:message>/)
        assert.match(reply.headers.get('content-type') ?? '', /^application\/xml/)
      }
    }
    const reply = await dav.call('MOVE', '/dav/Notes/a.txt', { headers: { Destination: '/dav/Notes/%ff' } })
    assert.deepEqual([reply.status, reply.text.includes('<d:error')], [400, true])
    assert.equal((await server.anonymous.call('PROPFIND', '/dav/Notes/%ff')).status, 401)
  })

  it('shows the past, which nobody can change', async () => {
    const now = Math.floor(Date.now() / 1000)
    const name = `@${new Date((now + 5) * 1000).toISOString().slice(0, 19)}`
    await dav.put('/dav/Notes/then.txt', 'then')
    assert.equal((await dav.call('GET', `/dav/${name}/Notes/then.txt`)).text, 'then')
    assert.ok((await dav.names(`/dav/${name}/`)).includes('Notes'))
    assert.equal((await dav.put(`/dav/${name}/Notes/then.txt`, 'x')).status, 403)
    assert.equal((await dav.call('DELETE', `/dav/${name}/Notes/then.txt`)).status, 403)
    assert.equal((await dav.call('GET', '/dav/@2001-01-01T00.00/Notes/then.txt')).status, 404)
    await dav.call('DELETE', '/dav/Notes/then.txt')
    const headers = { Destination: '/dav/Notes/back.txt' }
    assert.equal((await dav.call('COPY', `/dav/${name}/Notes/back.txt`, { headers })).status, 404)
  })

  it('says that an encrypted library is locked', async () => {
    await user.post('/api/v2.1/repos/', { form: { repo_name: 'Secret', passwd: 'library password' } })
    assert.ok((await dav.names('/dav/')).includes('Secret'))
    for (const reply of [
      await dav.propfind('/dav/Secret/', '1'),
      await dav.call('GET', '/dav/Secret/x.txt'),
      await dav.put('/dav/Secret/x.txt', 'x'),
      await dav.call('MKCOL', '/dav/Secret/folder'),
    ]) {
      assert.equal(reply.status, 403)
      assert.match(reply.text, /<c:library-locked>/)
    }
  })

  it('survives hostile input', async () => {
    const bomb = '<!DOCTYPE a [<!ENTITY b "bbbb">]><propfind xmlns="DAV:"><prop><c>&b;</c></prop></propfind>'
    assert.equal((await dav.propfind('/dav/Notes/', '0', bomb)).status, 403)
    const deep = `${'<a xmlns="DAV:">'.repeat(700)}${'</a>'.repeat(700)}`
    assert.equal((await dav.propfind('/dav/Notes/', '0', deep)).status, 400)
    assert.equal((await dav.propfind('/dav/Notes/', '0', `<a>${' '.repeat(70_000)}</a>`)).status, 413)
    for (const path of ['/dav/Notes/a%2Fb', '/dav/Notes/%00', '/dav/Notes/%ff', '/dav/%2e%2e/x']) {
      assert.ok([400, 404].includes((await dav.propfind(path, '0')).status), path)
    }
    const lists = '(<urn:x>)'.repeat(1000)
    assert.equal((await dav.put('/dav/Notes/h.txt', 'x', { If: lists })).status, 400)
    for (const header of ['(', '()', '(Not)', '<x>', 'x', '(<a>']) {
      assert.equal((await dav.put('/dav/Notes/h.txt', 'x', { If: header })).status, 400, header)
    }
  })
})

function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
}
