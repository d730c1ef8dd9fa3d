import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { LibraryId } from '../../src/base/objects/index.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { asking, DavClient, LOCK } from './dav-client.ts'

const PASSWORD = 'pass word 1'
const ENTRIES = 100
/** Bytes of an answer for each listed entry without properties, whatever is asked for and whoever has locks; `docs/webdav.md` says so. */
const PER_ENTRY = 16 * 1024
const PER_ANSWER = 64 * 1024

const SHARED_LOCK = LOCK.replace('<exclusive/>', '<shared/>')

describe('what an answer of WebDAV takes', () => {
  let server: TestServer
  let owner: Client
  let mine: DavClient
  /** Everybody who may read the folder, by kind. */
  let readers: Record<string, DavClient>
  before(async () => {
    server = await startServer()
    owner = await server.signUp({ password: PASSWORD })
    const guest = await server.signUp({ password: PASSWORD, role: 'guest' })
    const library = await owner.createLibrary('Team')
    const paths = Array.from({ length: ENTRIES }, (_, index) => `/many/folder ${index}`)
    await owner.post('/api/v2.1/repos/batch-create-dir/', { json: { repo_id: library, paths } })
    await owner.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: guest.email, permission: 'r' },
    })
    const { token = '' } = await personalToken(owner, { permission: 'r' })
    mine = new DavClient(server.url, owner.email, PASSWORD)
    readers = {
      owner: mine,
      guest: new DavClient(server.url, guest.email, PASSWORD),
      token: new DavClient(server.url, owner.email, token),
    }
  })
  after(() => server[Symbol.asyncDispose]())

  /** The bytes of a listing, for each who may read it. */
  async function listed(body?: string): Promise<Record<string, number>> {
    const sizes: Record<string, number> = {}
    for (const [kind, reader] of Object.entries(readers)) {
      const reply = await reader.propfind('/dav/Team/many/', '1', body)
      assert.equal(reply.status, 207, reply.text.slice(0, 300))
      sizes[kind] = Buffer.byteLength(reply.text)
    }
    return sizes
  }

  const names = (count: number, length = 10) =>
    Array.from({ length: count }, (_, index) => `<x:p${String(index).padStart(length - 1, '0')}/>`).join('')
  const query = (namespace: string, content: string) =>
    `<propfind xmlns="DAV:" xmlns:x="${namespace}"><prop>${content}</prop></propfind>`

  it('does not depend on the length of a namespace', async () => {
    const short = await listed(query('urn:x', names(100)))
    const long = await listed(query(`urn:${'x'.repeat(996)}`, names(100)))
    for (const [kind, bytes] of Object.entries(short)) assert.ok((long[kind] ?? 0) < bytes + 2000, kind)
  })

  it('is bounded for each entry, with the longest query and the most locks', async () => {
    for (const [kind, reader] of Object.entries(readers)) {
      for (const body of [
        query(`urn:${'x'.repeat(10_000)}`, names(100)),
        query('urn:x', names(101)),
        query('urn:x', names(100, 50)),
        query('urn:x', names(1, 10_000)),
      ]) {
        const { status, text } = await reader.propfind('/dav/Team/many/', '1', body)
        assert.equal(status, 400, `${kind}: ${body.length}`)
        assert.ok(text.length < 1000)
      }
    }
    const statuses: number[] = []
    for (let count = 0; count < 30; count += 1) {
      const body = SHARED_LOCK.replace('mailto:me', 'o'.repeat(450))
      const reply = await mine.call('LOCK', '/dav/Team/many/', { headers: { Depth: 'infinity' }, body })
      statuses.push(reply.status)
    }
    assert.deepEqual([...new Set(statuses)], [200, 423])
    assert.equal(statuses.filter((status) => status === 200).length, 10)
    const repeated = '<lockdiscovery/><supportedlock/>'.repeat(40)
    for (const body of [undefined, query('urn:x', repeated + names(90, 40))]) {
      for (const [kind, bytes] of Object.entries(await listed(body))) {
        assert.ok(bytes < (ENTRIES + 1) * PER_ENTRY + PER_ANSWER, `${kind}: ${bytes}`)
      }
    }
  })

  it('is about as long as the request for changed properties, which are stored as sent', async () => {
    await mine.put('/dav/Team/a.txt', 'a')
    const set = (content: string, rest = '') =>
      `<propertyupdate xmlns="DAV:" xmlns:x="urn:${'x'.repeat(1000)}"${rest}><set><prop>${content}</prop></set></propertyupdate>`
    const nested = set(`<x:one>${'<x:y/>'.repeat(4000)}</x:one>`)
    const many = set(names(40))
    for (const body of [nested, many]) {
      const reply = await mine.call('PROPPATCH', '/dav/Team/a.txt', { body })
      assert.equal(reply.status, 207)
      assert.ok(reply.text.includes('200 OK'))
      assert.ok(reply.text.length < 2 * body.length, `${reply.text.length}`)
      const one = body === nested ? '<x:one/>' : '<x:p000000000/>'
      const stored = await mine.propfind('/dav/Team/a.txt', '0', query(`urn:${'x'.repeat(1000)}`, one))
      assert.ok(stored.text.length < 2 * body.length, `${stored.text.length}`)
      await mine.call('PROPPATCH', '/dav/Team/a.txt', { body: body.replaceAll('set>', 'remove>') })
    }
    for (const body of [
      set('<x:a/>', ` xml:lang="${'e'.repeat(1000)}"`),
      set('<x:a/>', ` xmlns:y="${'y'.repeat(60_000)}"`),
      set(`<x:a ${Array.from({ length: 5000 }, (_, index) => `a${index}=""`).join(' ')}/>`),
    ]) {
      assert.equal((await mine.call('PROPPATCH', '/dav/Team/a.txt', { body })).status, 400)
    }
  })

  it('is complete where the properties of a folder are read in parts', async () => {
    const value = (index: number) => `${index} ${'v'.repeat(20_000)}`
    for (let index = 0; index < 40; index += 1) {
      const content = `<x:v xmlns:x="urn:x"><bare xmlns=""/>${value(index)}</x:v>`
      const body = `<propertyupdate xmlns="DAV:"><set><prop>${content}</prop></set></propertyupdate>`
      await mine.call('PROPPATCH', `/dav/Team/many/folder%20${index}`, {
        body,
        headers: { If: await anyToken() },
      })
    }
    const { text } = await mine.propfind(
      '/dav/Team/many/',
      '1',
      query('urn:x', '<x:v/><displayname xmlns="DAV:"/>'),
    )
    const found = text.matchAll(
      /<p0:v xmlns:p0="urn:x"><bare\/>(\d+) v{20000}<\/p0:v><d:displayname>folder (\d+)</g,
    )
    const pairs = Array.from(found, ([, number, name]) => [Number(number), Number(name)])
    assert.deepEqual(
      pairs.sort(([a = 0], [b = 0]) => a - b),
      Array.from({ length: 40 }, (_, index) => [index, index]),
    )
  })

  it('counts stored properties against the quota of the owner, with those of copies', async () => {
    const user = await server.signUp({ password: PASSWORD })
    const admin = await server.admin()
    await admin.put(`/api/v2.1/admin/users/${user.email}/`, { form: { quota_total: 1 } })
    const dav = new DavClient(server.url, user.email, PASSWORD)
    const libraries = [await user.createLibrary('Props'), await user.createLibrary('More')]
    const { access, accounts, core } = server.running.services
    const account = await accounts.get(user.email)
    const keys = await Promise.all(
      libraries.map(async (id) => (await access.open(account, id as LibraryId)).info.key),
    )
    const stored = async () => {
      const db = dbOf(core)
      const where = `library_key in (${keys.join(', ')})`
      const [row, counted] = await Promise.all(
        [
          `select coalesce(sum(octet_length(properties)), 0) as bytes from webdav_property where ${where}`,
          `select coalesce(sum(bytes), 0) as bytes from webdav_property_usage where ${where}`,
        ].map(async (sql) => db.get<{ bytes: number | string }>(sql)),
      )
      assert.equal(Number(counted?.bytes), Number(row?.bytes))
      return Number(row?.bytes)
    }
    const body = (instruction: string, length: number) =>
      `<propertyupdate xmlns="DAV:"><${instruction}><prop><v xmlns="urn:x">${'v'.repeat(length)}</v></prop></${instruction}></propertyupdate>`
    const patch = async (path: string, instruction = 'set', length = 50_000) =>
      (await dav.call('PROPPATCH', path, { body: body(instruction, length) })).status
    const to = (path: string) => ({ headers: { Destination: path } })

    await dav.call('MKCOL', '/dav/Props/a')
    for (let index = 0; index < 6; index += 1) {
      await dav.put(`/dav/Props/a/${index}`, 'x')
      assert.equal(await patch(`/dav/Props/a/${index}`), 207)
    }
    // Copies count, in the library and in another one of the owner.
    assert.equal((await dav.call('COPY', '/dav/Props/a', to('/dav/Props/b'))).status, 201)
    assert.equal((await dav.call('COPY', '/dav/Props/a', to('/dav/More/b'))).status, 201)
    const full = await stored()
    assert.ok(full > 900_000 && full < 1_000_000, `${full}`)
    assert.equal((await dav.call('COPY', '/dav/Props/a', to('/dav/Props/c'))).status, 507)
    assert.equal((await dav.propfind('/dav/Props/c', '0')).status, 404)
    const byApi = await user.post('/api/v2.1/repos/sync-batch-copy-item/', {
      json: {
        src_repo_id: libraries[0],
        src_parent_dir: '/',
        src_dirents: ['a'],
        dst_repo_id: libraries[1],
        dst_parent_dir: '/',
      },
    })
    assert.equal(byApi.status, 443, byApi.text)
    const statuses: number[] = []
    for (let index = 0; index < 5; index += 1) {
      await dav.put(`/dav/More/${index}`, 'x')
      statuses.push(await patch(`/dav/More/${index}`))
    }
    assert.deepEqual([statuses[0], statuses.at(-1)], [207, 507])
    assert.ok((await stored()) <= 1_000_000)
    // Less is always possible, and moves and deletions are counted.
    assert.equal(await patch('/dav/Props/a/0', 'set', 10), 207)
    assert.equal(await patch('/dav/Props/a/1', 'remove', 0), 207)
    assert.equal((await dav.call('MOVE', '/dav/Props/a/2', to('/dav/Props/b/2'))).status, 204)
    assert.equal((await dav.call('MOVE', '/dav/Props/b', to('/dav/Props/moved'))).status, 201)
    assert.equal((await dav.call('DELETE', '/dav/More/b')).status, 204)
    // Between libraries both need room for a moment, as files do.
    assert.equal((await dav.call('MOVE', '/dav/Props/moved', to('/dav/More/moved'))).status, 201)
    await stored()
    for (const path of ['/dav/Props/a', '/dav/More/moved']) {
      assert.equal((await dav.call('DELETE', path)).status, 204)
    }
    assert.ok((await stored()) < 250_000)
  })

  /** A condition with the tokens of all locks. */
  async function anyToken(): Promise<string> {
    const { text } = await mine.propfind('/dav/Team/many/', '0', asking('lockdiscovery'))
    return `(${/<d:locktoken><d:href>([^<]*)/.exec(text)?.[1]?.replace(/^(.*)$/, '<$1>') ?? '<none>'})`
  }
})
