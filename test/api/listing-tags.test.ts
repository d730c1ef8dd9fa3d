import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'

describe('the entity tag of a listing', () => {
  let server: TestServer
  let space: Workspace
  before(async () => {
    // The clock stands still, because libraries are listed with the time since they changed, in seconds at first.
    const started = Math.floor(Date.now() / 1000)
    server = await startServer({ now: () => started })
    space = await Workspace.make(server)
    await uploadFile(space.client, space.id, '/folder/a.txt', 'text')
    await uploadFile(space.client, space.id, '/folder/b.txt', 'text')
  })
  after(() => server[Symbol.asyncDispose]())

  const listings = (): [path: string, query: Record<string, string>][] => [
    [space.v2('dir/'), { p: '/folder' }],
    [space.v21('dir/'), { p: '/folder' }],
    [space.v21('dir/'), { p: '/folder', with_parents: 'true' }],
    [space.v21('dir/'), { p: '/folder', with_thumbnail: 'true' }],
  ]

  async function tagOf(path: string, query: Record<string, string>, client: Client = space.client) {
    const reply = await client.get(path, query)
    assert.equal(reply.status, 200, reply.text)
    const tag = reply.headers.get('etag') ?? ''
    assert.match(tag, /^W\/"[0-9a-f]{40}"$/)
    return { tag, text: reply.text }
  }

  const conditional = (path: string, query: Record<string, string>, tag: string): Promise<Reply> =>
    space.client.call('GET', path, { query, headers: { 'If-None-Match': tag } })

  it('is answered with 304 and no body while nothing that it shows has changed', async () => {
    for (const [path, query] of [...listings(), ['/api/v2.1/repos/', {}], ['/api2/repos/', {}]] as ReturnType<
      typeof listings
    >) {
      const { tag } = await tagOf(path, query)
      const same = await conditional(path, query, tag)
      assert.equal(same.status, 304, path)
      assert.equal(same.text, '')
      assert.equal(same.headers.get('etag'), tag)
      assert.equal((await conditional(path, query, 'W/"other"')).status, 200)
    }
  })

  const changes: [about: string, make: () => Promise<unknown>][] = [
    ['an uploaded file', () => uploadFile(space.client, space.id, '/folder/c.txt', 'more')],
    ['new content', () => uploadFile(space.client, space.id, '/folder/d.txt', 'other')],
    [
      'a lock',
      () =>
        space.client.call('PUT', space.v21('file/'), {
          query: { p: '/folder/a.txt' },
          form: { operation: 'lock' },
        }),
    ],
    [
      'a star',
      () =>
        space.client.post('/api/v2.1/starred-items/', { form: { repo_id: space.id, path: '/folder/b.txt' } }),
    ],
    ['the name of a modifier', () => space.client.put('/api/v2.1/user/', { form: { name: 'Another name' } })],
    [
      'the removal of a star',
      () =>
        space.client.call('DELETE', '/api/v2.1/starred-items/', {
          query: { repo_id: space.id, path: '/folder/b.txt' },
        }),
    ],
  ]
  for (const [about, make] of changes) {
    it(`changes with ${about}`, async () => {
      const known = await Promise.all(listings().map(([path, query]) => tagOf(path, query)))
      await make()
      for (const [n, [path, query]] of listings().entries()) {
        const fresh = await tagOf(path, query)
        assert.notEqual(fresh.text, known[n]?.text, path)
        assert.notEqual(fresh.tag, known[n]?.tag, path)
        assert.equal((await conditional(path, query, known[n]?.tag ?? '')).status, 200)
      }
    })
  }

  it('lets a client that has a listing fetch only what changed in it', async () => {
    const path = space.v21('dir/')
    for (const name of ['kept', 'edited', 'deleted']) {
      await uploadFile(space.client, space.id, `/changing/${name}.txt`, name)
    }
    const query = { p: '/changing' }
    const { tag, text } = await tagOf(path, query)
    const before = JSON.parse(text)
    await uploadFile(space.client, space.id, '/changing/edited.txt', 'again', { replace: true })
    await uploadFile(space.client, space.id, '/changing/added.txt', 'added')
    await space.client.delete(space.v21('file/'), { query: { p: '/changing/deleted.txt' } })
    const since = { ...query, since: before.dir_id }
    const changes = await conditional(path, since, tag)
    const whole = await space.client.get(path, query)
    assert.equal(changes.status, 200, changes.text)
    assert.equal(changes.headers.get('etag'), whole.headers.get('etag'))
    const names = (list: { name: string }[]) => list.map(({ name }) => name).sort()
    assert.equal(changes.body.since, before.dir_id)
    assert.equal(changes.body.dir_id, whole.body.dir_id)
    assert.deepEqual(changes.body.removed, ['deleted.txt'])
    assert.deepEqual(names(changes.body.dirent_list), ['added.txt', 'edited.txt'])
    for (const entry of changes.body.dirent_list) {
      assert.deepEqual(
        entry,
        whole.body.dirent_list.find(({ name }: { name: string }) => name === entry.name),
      )
    }
    // Whoever was not sent the listing gets nothing out of its id, nor does a client whose listing has other locks or stars.
    for (const reply of [
      await conditional(path, since, `W/"${'0'.repeat(40)}"`),
      await space.client.get(path, since),
      await conditional(path, { ...query, since: 'ab'.repeat(20) }, tag),
    ]) {
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.body, whole.body)
    }
    await space.client.post('/api/v2.1/starred-items/', {
      form: { repo_id: space.id, path: '/changing/kept.txt' },
    })
    const starred = await conditional(path, since, tag)
    assert.equal(starred.body.since, undefined)
    assert.equal(starred.body.dirent_list.length, 3)
  })

  it('stays when another folder, or a lock in it, changes', async () => {
    await uploadFile(space.client, space.id, '/elsewhere/e.txt', 'text')
    const [path, query] = [space.v21('dir/'), { p: '/folder' }]
    const { tag } = await tagOf(path, query)
    await uploadFile(space.client, space.id, '/elsewhere/f.txt', 'text')
    await space.client.post('/api/v2.1/starred-items/', {
      form: { repo_id: space.id, path: '/elsewhere/e.txt' },
    })
    assert.equal((await conditional(path, query, tag)).status, 304)
  })

  it('differs between users with other permissions', async () => {
    const other = await server.signUp()
    const shared = await space.client.call('PUT', `/api2/repos/${space.id}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: other.email ?? '', permission: 'r' },
    })
    assert.equal(shared.status, 200, shared.text)
    const [path, query] = [space.v21('dir/'), { p: '/folder' }]
    assert.notEqual((await tagOf(path, query, other)).tag, (await tagOf(path, query)).tag)
  })

  it('is the same however the response is coded', async () => {
    for (let n = 0; n < 20; n++) await uploadFile(space.client, space.id, `/folder/more ${n}.txt`, 'text')
    const [path, query] = [space.v21('dir/'), { p: '/folder' }]
    const tags = await Promise.all(
      ['identity', 'gzip', 'br', 'zstd'].map(async (coding) => {
        const reply = await space.client.call('GET', path, { query, headers: { 'Accept-Encoding': coding } })
        return reply.headers.get('etag')
      }),
    )
    assert.equal(new Set(tags).size, 1)
  })
})
