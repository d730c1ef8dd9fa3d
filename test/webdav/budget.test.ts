import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
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

  /** A condition with the tokens of all locks. */
  async function anyToken(): Promise<string> {
    const { text } = await mine.propfind('/dav/Team/many/', '0', asking('lockdiscovery'))
    return `(${/<d:locktoken><d:href>([^<]*)/.exec(text)?.[1]?.replace(/^(.*)$/, '<$1>') ?? '<none>'})`
  }
})
