import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import type { FileId, LibraryId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { getLibrary } from '../../src/libraries/library/libraries.ts'
import type { Client, Params, Reply } from '../support/client.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { NOON, NOON_TEXT, Workspace } from './folders-support.ts'

const URL = '/api/v2.1/activities/'
let clock = NOON
let server: TestServer
before(async () => {
  server = await startServer({ now: () => clock })
})
after(() => server[Symbol.asyncDispose]())

interface Item {
  op_type: string
  obj_type: string
  path: string
  old_path?: string
  repo_id: string
  commit_id: string
}

async function feedOf(client: Client, query: Params = {}): Promise<Item[]> {
  const reply = await client.get(URL, query)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(Object.keys(reply.body), ['events'])
  return reply.body.events
}

const brief = (items: readonly Item[]) =>
  items.map(({ op_type, obj_type, path, old_path }) =>
    [op_type, obj_type, path, ...(old_path === undefined ? [] : [old_path])].join(' '),
  )

describe('the activity feed', () => {
  it('shows a library from its creation on, with every field', async () => {
    clock = NOON
    const ann = await server.signUp()
    const id = await ann.createLibrary('Plans')
    const commit = await contentOf(server, ann, id).addFile('/a.txt')
    const [file, library, ...more] = await feedOf(ann)
    const common = {
      repo_id: id,
      repo_name: 'Plans',
      author_email: ann.email,
      author_name: ann.email.split('@')[0],
      author_contact_email: ann.email,
      login_id: '',
      avatar_url: `${server.url}/media/avatars/default.png`,
      time: NOON_TEXT,
      details: [],
      count: 0,
    }
    assert.deepEqual(file, {
      ...common,
      op_type: 'create',
      obj_type: 'file',
      commit_id: commit,
      path: '/a.txt',
      name: 'a.txt',
    })
    const { commit_id: first, ...created } = library as Item
    assert.match(first, /^[0-9a-f]{40}$/)
    assert.deepEqual(created, { ...common, op_type: 'create', obj_type: 'repo', path: '/', name: '' })
    assert.deepEqual(more, [])
  })

  it('reports the kind of each change', async () => {
    const space = await Workspace.make(server)
    const { client } = space
    const content = contentOf(server, client, space.id)
    await content.addFolder('/d')
    await content.putFile('/d/a', 3, '1')
    await content.putFile('/d/a', 4, '2')
    await content.rename('/d/a', 'b')
    await client.post(space.v21('file/'), {
      query: { p: '/d/b' },
      form: { operation: 'move', dst_repo: space.id, dst_dir: '/' },
    })
    await content.rename('/d', 'e')
    await content.remove('/b')
    const deleted = (await client.get(space.v21('trash/'))).body.data[0].commit_id
    const restored = await client.put(space.v2('file/revert/'), { form: { p: '/b', commit_id: deleted } })
    assert.equal(restored.status, 200, restored.text)
    await content.remove('/e')
    assert.deepEqual(brief(await feedOf(client)), [
      'delete dir /e',
      'recover file /b',
      'delete file /b',
      'rename dir /e /d',
      'move file /b /d/b',
      'rename file /d/b /d/a',
      'edit file /d/a',
      'create file /d/a',
      'create dir /d',
      'create repo /',
    ])
  })

  it('reports changes of the library itself, and keeps its deletion visible to the owner', async () => {
    clock = NOON
    const space = await Workspace.make(server)
    const { client } = space
    clock += 10
    const renaming = { query: { op: 'rename' }, form: { repo_name: 'Ideas' } }
    assert.equal((await client.post(space.v2(''), renaming)).status, 200)
    clock += 10
    assert.equal((await client.delete(space.v21('trash/'), { form: { keep_days: 3 } })).status, 200)
    clock += 10
    assert.equal((await client.delete(space.v2(''))).status, 200)
    const shown = async () =>
      (await client.get(URL)).body.events.map((item: Record<string, unknown>) => [
        item['op_type'],
        item['obj_type'],
        item['repo_name'],
        item['old_repo_name'] ?? item['days'],
      ])
    assert.deepEqual(await shown(), [['delete', 'repo', 'Ideas', undefined]])
    clock += 10
    await client.post('/api/v2.1/deleted-repos/', { form: { repo_id: space.id } })
    assert.deepEqual(await shown(), [
      ['recover', 'repo', 'Ideas', undefined],
      ['delete', 'repo', 'Ideas', undefined],
      ['clean-up-trash', 'repo', 'Ideas', 3],
      ['rename', 'repo', 'Ideas', 'Plans'],
      ['create', 'repo', 'Ideas', undefined],
    ])
    await client.delete(space.v2(''))
    await client.delete(`/api/v2.1/deleted-repos/${space.id}/`)
    assert.deepEqual(await shown(), [])
  })

  it('does not mistake a new description for a new name', async () => {
    const space = await Workspace.make(server)
    const form = { repo_name: 'Plans', repo_desc: 'what to do' }
    assert.equal((await space.client.post(space.v2(''), { query: { op: 'rename' }, form })).status, 200)
    assert.deepEqual(brief(await feedOf(space.client)), ['create repo /'])
  })

  it('merges libraries by time, and pages without gaps or duplicates', async () => {
    clock = NOON
    const ann = await server.signUp()
    const spaces = [await Workspace.make(server, ann), await Workspace.make(server, ann)]
    for (let n = 0; n < 30; n++) {
      clock += n % 3
      await contentOf(server, ann, spaces[n % 2]?.id ?? '').addFile(`/${String(n).padStart(2, '0')}`)
    }
    const all = await feedOf(ann, { per_page: 100 })
    assert.equal(all.length, 32)
    const files = all.filter(({ obj_type }) => obj_type === 'file')
    assert.deepEqual(files[0]?.path, '/29')
    for (const perPage of [1, 7, 16, 32, 33]) {
      const paged: Item[] = []
      for (let page = 1; ; page++) {
        const some = await feedOf(ann, { page, per_page: perPage })
        if (some.length === 0) break
        paged.push(...some)
      }
      assert.deepEqual(paged, all, `${perPage} a page`)
    }
  })

  it('shows the first hundred changes of a large commit', async () => {
    const space = await Workspace.make(server)
    const names = Array.from({ length: 150 }, (_, n) => `f${String(n).padStart(3, '0')}`)
    const { access, accounts } = server.running.services
    const account = await accounts.get(space.client.email)
    const library = (await access.open(account, space.id as LibraryId)).editable(ROOT)
    await library.commit(async (tree) => {
      for (const name of names) {
        const id = '1'.repeat(40) as FileId
        await tree.put(ROOT, fileDirent({ id, name, mtime: tree.now, size: 1, modifier: account.email }))
      }
      return { description: 'Added "f000" and 149 more files.', result: undefined }
    })
    const feed = await feedOf(space.client, { per_page: 200 })
    assert.deepEqual(
      feed.map(({ path }) => path),
      [...names.slice(0, 100).map((name) => `/${name}`), '/'],
    )
  })

  it('filters by account on request', async () => {
    const space = await Workspace.make(server)
    await space.file('/mine')
    assert.equal((await feedOf(space.client, { op_user: space.client.email.toUpperCase() })).length, 2)
    assert.deepEqual(await feedOf(space.client, { op_user: 'nobody@example.org' }), [])
    const reply = await space.client.get(`${URL}?op_user=%00`)
    assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'op_user invalid.' }])
  })

  it('ignores invalid page numbers, and returns nothing beyond the end', async () => {
    const space = await Workspace.make(server)
    for (const query of [
      { page: 'x' },
      { page: 0 },
      { page: -3 },
      { per_page: '' },
      { per_page: '1e3' },
      { per_page: -1 },
      { page: "1'; drop table activity" },
    ]) {
      assert.equal((await feedOf(space.client, query)).length, 1, JSON.stringify(query))
    }
    for (const page of [2, 1_000_000, '9'.repeat(30)]) {
      assert.deepEqual(await feedOf(space.client, { page }), [])
    }
  })

  it('never shows the changes of others in libraries the caller cannot read', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    const mine = await Workspace.make(server, ann)
    await Workspace.make(server, bob, 'Secret')
    assert.deepEqual(
      (await feedOf(ann)).map(({ repo_id }) => repo_id),
      [mine.id],
    )
    assert.deepEqual(await feedOf(ann, { op_user: bob.email }), [])
    assert.equal((await server.anonymous.get(URL)).status, 403)
  })

  it('follows a library to its new owner', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    const space = await Workspace.make(server, ann)
    await space.file('/a')
    await ann.put(space.v2('owner/'), { form: { owner: bob.email } })
    assert.deepEqual(await feedOf(ann), [])
    assert.deepEqual(brief(await feedOf(bob)), ['create file /a', 'create repo /'])
  })

  it('can be dropped and rebuilt from the commits', async () => {
    const space = await Workspace.make(server)
    const content = contentOf(server, space.client, space.id)
    for (let n = 0; n < 120; n++) await content.addFile(`/f${n}`)
    await content.rename('/f0', 'g')
    await space.client.post(space.v2(''), { query: { op: 'rename' }, form: { repo_name: 'New' } })
    await space.client.delete(space.v21('trash/'))
    const before = await feedOf(space.client, { per_page: 500 })
    const { access, accounts, activity } = server.running.services
    const account = await accounts.get(space.client.email)
    const [library] = await access.listReadable(account)
    const opened = await access.reopen(account, {
      libraryKey: library?.libraryKey ?? 0,
      subKey: undefined,
    })
    assert.ok(opened)
    await activity.consumer.reindex(opened.info)
    assert.deepEqual(await feedOf(space.client, { per_page: 500 }), before)
    await content.addFile('/after')
    assert.equal((await feedOf(space.client, { per_page: 500 })).length, before.length + 1)
  })
})

describe('a feed with an age', () => {
  it('loses what is older, and is the same when it is rebuilt', async () => {
    let time = NOON
    await using aging = await startServer({ now: () => time, env: { CARREL_ACTIVITY_DAYS: '10' } })
    const space = await Workspace.make(aging)
    await space.file('/old')
    time += 6 * 86_400
    await space.file('/new')
    assert.equal((await feedOf(space.client)).length, 3)
    time += 5 * 86_400
    const { activity, core } = aging.running.services
    await activity.consumer.deleteOld()
    const kept = brief(await feedOf(space.client))
    assert.deepEqual(kept, ['create file /new'])
    await activity.consumer.reindex(await getLibrary(core, space.id as LibraryId))
    assert.deepEqual(brief(await feedOf(space.client)), kept)
  })
})

describe('the feed for older clients', () => {
  const read = async (client: Client, query: Params = {}): Promise<Reply> =>
    client.get('/api2/events/', query)

  it('is the same feed, by offset', async () => {
    const space = await Workspace.make(server)
    for (let n = 0; n < 20; n++) await space.file(`/${n}`)
    const all = await feedOf(space.client, { per_page: 100 })
    const first = (await read(space.client)).body
    assert.deepEqual(first, { events: all.slice(0, 15), more: true, more_offset: 15 })
    const rest = (await read(space.client, { start: first.more_offset })).body
    assert.deepEqual(rest, { events: all.slice(15), more: false, more_offset: 30 })
    assert.deepEqual((await read(space.client, { start: 3, limit: 2 })).body.events, all.slice(3, 5))
    assert.deepEqual((await read(space.client, { start: 'x', limit: -1 })).body, first)
    assert.deepEqual((await read(space.client, { start: '9'.repeat(15) })).body.events, [])
  })
})
