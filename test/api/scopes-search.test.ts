import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client, Params } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { shareWith, unshare } from './sharing-support.ts'

describe('GET /api2/search/ with a scoped token', () => {
  let server: TestServer
  let ann: Client
  let ben: Client
  /** Of ann: two libraries. Of ben: one, of which the folder /open is shared with ann. */
  let mine: string
  let other: string
  let folder: string
  before(async () => {
    server = await startServer()
    ann = await server.signUp()
    ben = await server.signUp()
    mine = await ann.createLibrary('Mine')
    other = await ann.createLibrary('Other')
    const his = await ben.createLibrary('His')
    await uploadFile(ann, mine, '/heron.txt', 'plain')
    await uploadFile(ann, mine, '/deep/note.txt', 'a heron in the text')
    await uploadFile(ann, other, '/heron elsewhere.txt', 'plain')
    await uploadFile(ben, his, '/open/heron shared.txt', 'plain')
    await uploadFile(ben, his, '/shut/heron hidden.txt', 'plain')
    for (const id of [mine, other]) {
      const file = id === mine ? '/heron.txt' : '/heron elsewhere.txt'
      const form = { comment: 'kingfisher' }
      const reply = await ann.post(`/api2/repos/${id}/file/comments/`, { query: { p: file }, form })
      assert.equal(reply.status, 201, reply.text)
    }
    folder = await shareWith(ben, his, ann, { path: '/open' })
    await eventually(async () => {
      assert.deepEqual(await found(ann, { q: 'heron' }), [
        '/deep/note.txt',
        '/heron elsewhere.txt',
        '/heron shared.txt',
        '/heron.txt',
      ])
      assert.deepEqual(await found(ann, { q: 'comment:kingfisher' }), ['/heron elsewhere.txt', '/heron.txt'])
      assert.equal((await found(ben, { q: 'heron' })).length, 2)
    })
  })
  after(() => server[Symbol.asyncDispose]())

  async function found(client: Client, query: Params): Promise<string[]> {
    const reply = await client.get('/api2/search/', query)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.body.total, reply.body.results.length)
    return reply.body.results.map(({ fullpath }: { fullpath: string }) => fullpath).toSorted()
  }
  const statusOf = async (client: Client, query: Params) => (await client.get('/api2/search/', query)).status

  for (const permission of ['r', 'rw'] as const) {
    it(`finds with permission ${permission} what the account finds`, async () => {
      const token = await personalToken(ann, { permission })
      for (const query of [
        { q: 'heron' },
        { q: 'heron', search_repo: 'mine' },
        { q: 'heron', search_repo: 'shared' },
        { q: 'heron', search_repo: mine, search_path: '/deep' },
        { q: 'comment:kingfisher' },
        { q: 'kingfisher' },
      ]) {
        const expected = await found(ann, query)
        assert.notDeepEqual(expected, [])
        assert.deepEqual(await found(token, query), expected)
      }
    })
  }

  it('says the permission of the token, not of the account', async () => {
    const token = await personalToken(ann, { permission: 'r' })
    const { body } = await token.get('/api2/search/', { q: 'heron', with_permission: 'true' })
    assert.deepEqual([...new Set(body.results.map((one: { permission: string }) => one.permission))], ['r'])
  })

  it('for one library finds nothing of others, by name, text or comment', async () => {
    const token = await personalToken(ann, { permission: 'r', repo_id: mine })
    const own = ['/deep/note.txt', '/heron.txt']
    for (const search_repo of ['all', 'mine', mine]) {
      assert.deepEqual(await found(token, { q: 'heron', search_repo }), own)
    }
    for (const search_repo of ['shared', 'group', 'public']) {
      assert.deepEqual(await found(token, { q: 'heron', search_repo }), [])
    }
    assert.deepEqual(await found(token, { q: 'elsewhere' }), [])
    assert.deepEqual(await found(token, { q: 'comment:kingfisher' }), ['/heron.txt'])
    assert.deepEqual(await found(token, { q: 'kingfisher' }), ['/heron.txt'])
    assert.equal(await statusOf(token, { q: 'heron', search_repo: other }), 403)
    assert.equal(await statusOf(token, { q: 'heron', search_repo: folder }), 403)
  })

  it('for a shared folder finds nothing around it, and nothing once the share ends', async () => {
    const cem = await server.signUp()
    const his = await ben.createLibrary('Short')
    await uploadFile(ben, his, '/open/bittern.txt', 'plain')
    await uploadFile(ben, his, '/shut/bittern.txt', 'plain')
    const shared = await shareWith(ben, his, cem, { path: '/open' })
    const token = await personalToken(cem, { permission: 'r', repo_id: shared })
    await eventually(async () => assert.deepEqual(await found(token, { q: 'bittern' }), ['/bittern.txt']))
    assert.deepEqual(await found(token, { q: 'bittern', search_repo: shared }), ['/bittern.txt'])
    assert.equal(await statusOf(token, { q: 'bittern', search_repo: his }), 403)
    await unshare(ben, his, cem, '/open')
    assert.notEqual(await statusOf(token, { q: 'bittern', search_repo: shared }), 200)
    assert.deepEqual(await found(token, { q: 'bittern' }), [])
  })

  it('is refused for uploading, and once the token is revoked', async () => {
    const uploading = await personalToken(ann, { permission: 'upload' })
    assert.equal(await statusOf(uploading, { q: 'heron' }), 403)
    const token = await personalToken(ann, { permission: 'r' })
    assert.equal(await statusOf(token, { q: 'heron' }), 200)
    await ann.delete(`/api/v2.1/personal-tokens/${token.id}/`)
    assert.equal(await statusOf(token, { q: 'heron' }), 401)
  })
})
