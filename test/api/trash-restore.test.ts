import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client, type Params, type Reply } from '../support/client.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, storedBytes, uploadFile } from '../support/transfer.ts'
import { fill } from './batch-support.ts'
import { assertError, assertReply, NOON, Workspace } from './folders-support.ts'

const DAY = 86_400
const NO_COMMIT = 'c'.repeat(40)
const UNKNOWN = '11111111-2222-4333-8444-555555555555'
let clock = NOON
let server: TestServer
let stranger: Client
before(async () => {
  server = await startServer({ now: () => clock })
  stranger = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

const put = (space: Workspace, path: string, text: string) =>
  uploadFile(space.client, space.id, path, text, { replace: true })
const read = async (space: Workspace, path: string) => String(await storedBytes(server, space.id, path))
const remove = (space: Workspace, path: string) => contentOf(server, space.client, space.id).remove(path)
const ok = (...paths: [path: string, is_dir: boolean][]) => paths.map(([path, is_dir]) => ({ path, is_dir }))
const missing = (path: string) => ({ path, error_msg: `Dirent ${path} not found.` })
const namesOf = ({ body }: Reply) =>
  body.items.map((item: { parent_dir: string; obj_name: string }) => item.parent_dir + item.obj_name)

describe('the trash in pages', () => {
  let space: Workspace
  let before1: string
  let before2: string
  before(async () => {
    clock = NOON
    space = await Workspace.make(server)
    await put(space, '/docs/Old Report.TXT', 'one')
    await put(space, '/docs/in/x.md', 'two')
    await put(space, '/50%_off!.txt', 'three')
    before1 = await space.head()
    clock += DAY
    await remove(space, '/docs/Old Report.TXT')
    before2 = await space.head()
    clock += DAY
    await remove(space, '/docs')
    clock += DAY
    await remove(space, '/50%_off!.txt')
  })

  it('is listed with every field, latest first, a folder as one item', async () => {
    const reply = await space.client.get(space.v21('trash2/'))
    assert.deepEqual(reply.body.items.slice(1), [
      {
        parent_dir: '/',
        obj_name: 'docs',
        deleted_time: '2025-08-02T22:13:20+00:00',
        commit_id: before2,
        is_dir: true,
        size: 0,
        obj_id: '',
      },
      {
        parent_dir: '/docs/',
        obj_name: 'Old Report.TXT',
        deleted_time: '2025-08-01T22:13:20+00:00',
        commit_id: before1,
        is_dir: false,
        size: 3,
        obj_id: reply.body.items[2].obj_id,
      },
    ])
    assert.match(reply.body.items[2].obj_id, /^[0-9a-f]{40}$/)
    assert.deepEqual([reply.body.total_count, reply.body.can_search], [3, true])
    assert.deepEqual(Object.keys(reply.body), ['items', 'total_count', 'can_search'])
  })

  const all = ['/50%_off!.txt', '/docs', '/docs/Old Report.TXT']
  const pages: [query: Params, names: string[]][] = [
    [{}, all],
    [{ page: 1, per_page: 2 }, all.slice(0, 2)],
    [{ page: 2, per_page: 2 }, all.slice(2)],
    [{ page: 3, per_page: 2 }, []],
    [{ page: 0, per_page: 2 }, all.slice(0, 2)],
    [{ page: 1, per_page: 0 }, all],
    [{ page: 1, per_page: -5 }, all],
    [{ page: 'x', per_page: 1 }, all],
    [{ page: '9'.repeat(30), per_page: '9'.repeat(30) }, []],
  ]
  for (const [query, names] of pages) {
    it(`shows ${names.length} of 3 for ${JSON.stringify(query).slice(0, 50)}`, async () => {
      for (const url of [space.v21('trash2/'), space.v21('trash2')]) {
        const reply = await space.client.get(url, query)
        assert.deepEqual([reply.status, namesOf(reply), reply.body.total_count], [200, names, 3])
      }
    })
  }

  const searches: [query: Params, names: string[]][] = [
    [{}, all],
    [{ q: '' }, all],
    [{ q: 'report' }, [all[2] ?? '']],
    [{ q: 'REPORT.t' }, [all[2] ?? '']],
    [{ q: 'docs' }, ['/docs']],
    [{ q: '%' }, [all[0] ?? '']],
    [{ q: '_' }, [all[0] ?? '']],
    [{ q: '!' }, [all[0] ?? '']],
    [{ q: 'x'.repeat(5000) }, []],
    [{ q: 'o', per_page: 1 }, [all[0] ?? '']],
    [{ q: 'o', per_page: 1, page: 2 }, ['/docs']],
    [{ suffixes: 'txt' }, [all[0] ?? '', all[2] ?? '']],
    [{ suffixes: '.md, .TXT' }, [all[0] ?? '', all[2] ?? '']],
    [{ suffixes: 'md' }, []],
    [{ suffixes: 'xt' }, []],
    [{ suffixes: ',' }, all],
    [{ op_users: 'nobody@example.org' }, []],
    [{ time_from: NOON + 2 * DAY }, all.slice(0, 2)],
    [{ time_to: NOON + 2 * DAY }, all.slice(1)],
    [{ time_from: '2025-08-02', time_to: '2025-08-02' }, ['/docs']],
    [{ time_from: '2025-08-02T22:13:21Z' }, [all[0] ?? '']],
    [{ time_from: '2025-08-03T00:13:20+02:00', time_to: '2025-08-02T22:13:20' }, ['/docs']],
    [{ q: 'o', suffixes: 'txt', time_to: NOON + DAY }, [all[2] ?? '']],
  ]
  for (const [query, names] of searches) {
    it(`finds ${names.length} for ${JSON.stringify(query).slice(0, 60)}`, async () => {
      const reply = await space.client.get(space.v21('trash2/search/'), query)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(namesOf(reply), names)
      if (query['per_page'] === undefined) assert.equal(reply.body.total_count, names.length)
    })
  }

  it('finds the deletions of an account', async () => {
    const query = { op_users: `nobody@example.org, ${space.client.email.toUpperCase()}` }
    const reply = await space.client.get(space.v21('trash2/search/'), query)
    assert.deepEqual(namesOf(reply), all)
  })

  const refused: [query: Params, words: string][] = [
    [{ time_from: 'x' }, 'time_from invalid.'],
    [{ time_to: '2025-13-01' }, 'time_to invalid.'],
    [{ q: 'a\u0000' }, 'q invalid.'],
    [{ op_users: 'a\u0000' }, 'op_users invalid.'],
    [{ suffixes: Array.from({ length: 101 }, (_, n) => n).join() }, 'suffixes invalid.'],
  ]
  for (const [query, words] of refused) {
    it(`rejects a search for ${JSON.stringify(query).slice(0, 40)}`, async () => {
      assertError(await space.client.get(space.v21('trash2/search/'), query), 400, words)
    })
  }

  it('does not count an entry that exists again, and counts it once that has moved away', async () => {
    const other = await Workspace.make(server)
    await put(other, '/f/a', '1')
    await put(other, '/f/b', '1')
    const full = await other.head()
    await remove(other, '/f/a')
    await remove(other, '/f')
    const shown = async () => {
      const reply = await other.client.get(other.v21('trash2/'))
      assert.equal(reply.body.total_count, reply.body.items.length)
      return namesOf(reply)
    }
    assert.deepEqual(await shown(), ['/f', '/f/a'])
    const form = { path: '/f', commit_id: full }
    await other.client.post(other.v21('trash/revert-dirents/'), { form })
    assert.deepEqual(await shown(), [], 'the file came back with its folder')
    await contentOf(server, other.client, other.id).rename('/f', 'g')
    assert.deepEqual(await shown(), ['/f', '/f/a'])
    await contentOf(server, other.client, other.id).rename('/g', 'f')
    assert.deepEqual(await shown(), [])
  })

  it('is empty and cannot be searched if no history is kept', async () => {
    await space.client.put(space.v2('history-limit/'), { form: { keep_days: 0 } })
    for (const call of ['trash2/', 'trash2/search/']) {
      const reply = await space.client.get(space.v21(call))
      assertReply(reply, 200, { items: [], total_count: 0, can_search: false })
    }
    await space.client.put(space.v2('history-limit/'), { form: { keep_days: -1 } })
  })

  it('requires a token, access and an existing library', async () => {
    for (const call of ['trash2/', 'trash2/search/']) {
      assert.equal((await server.anonymous.get(space.v21(call))).status, 403)
      assert.equal((await new Client(server.url, 'x').get(space.v21(call))).status, 401)
      assertError(await stranger.get(space.v21(call)), 403, 'Permission denied.')
      const unknown = await space.client.get(`/api/v2.1/repos/${UNKNOWN}/${call}`)
      assertError(unknown, 404, `Library ${UNKNOWN} not found.`)
    }
  })
})

/** Both restore calls behind one interface: paths by commit. */
const calls: [name: string, call: (space: Workspace, commit: string, paths: string[]) => Promise<Reply>][] = [
  [
    'trash/revert-dirents',
    (space, commit_id, path) =>
      space.client.post(space.v21('trash/revert-dirents/'), { form: { path, commit_id } }),
  ],
  [
    'trash2/revert',
    (space, commit, paths) => space.client.post(space.v21('trash2/revert/'), { json: { [commit]: paths } }),
  ],
]
for (const [name, bringBack] of calls) {
  describe(`restoring by ${name}`, () => {
    /** Failures of the newer call name the commit. */
    const failures = (commit_id: string, ...failed: object[]) =>
      failed.map((one) => (name === 'trash2/revert' ? { commit_id, ...one } : one))
    let space: Workspace
    let commit: string
    before(async () => {
      clock = NOON
      space = await Workspace.make(server)
      for (const path of ['/a.txt', '/b.txt', '/d/x', '/d/in/y']) await put(space, path, path)
      commit = await space.head()
      clock += 60
    })

    it('restores files and folders in one commit, and reports unknown ones', async () => {
      for (const path of ['/a.txt', '/b.txt', '/d']) await remove(space, path)
      const reply = await bringBack(space, commit, ['/a.txt', 'd/', '/none', '/..', '/'])
      assertReply(reply, 200, {
        success: ok(['/a.txt', false], ['d/', true]),
        failed: failures(commit, missing('/none'), missing('/..'), missing('/')),
      })
      assert.deepEqual(await namesIn(space.client, space.id), ['a.txt', 'd/'])
      assert.equal(await read(space, '/d/in/y'), '/d/in/y')
      assert.equal(await space.lastCommit(), 'Recovered "a.txt" and 1 more files')
      const trash = await space.client.get(space.v21('trash2/'))
      assert.deepEqual(namesOf(trash), ['/b.txt'])
    })

    it('keeps modification time and modifier of what was deleted', async () => {
      const own = await Workspace.make(server)
      const times = async () => {
        const { body } = await own.client.get(own.v21('dir/'), { p: '/kept' })
        const file = body.dirent_list.find((one: { name: string }) => one.name === 'a.txt')
        const { body: above } = await own.client.get(own.v21('dir/'), { p: '/' })
        const folder = above.dirent_list.find((one: { name: string }) => one.name === 'kept')
        return [file.mtime, file.modifier_email, folder.mtime]
      }
      await put(own, '/kept/a.txt', 'as it was')
      const was = await times()
      const head = await own.head()
      clock += DAY
      await remove(own, '/kept')
      clock += DAY
      assert.deepEqual((await bringBack(own, head, ['/kept'])).body.failed, [])
      assert.deepEqual(await times(), was)
      const again = await own.head()
      clock += DAY
      await remove(own, '/kept/a.txt')
      clock += DAY
      assert.deepEqual((await bringBack(own, again, ['/kept/a.txt'])).body.failed, [])
      assert.deepEqual((await times()).slice(0, 2), was.slice(0, 2))
    })

    it('describes a commit of one file or one folder as its revert', async () => {
      await bringBack(space, commit, ['/b.txt'])
      assert.equal(await space.lastCommit(), 'Reverted file "b.txt" to status at 2025-07-31 22:13:20')
      await remove(space, '/d')
      await bringBack(space, commit, ['/d'])
      assert.equal(await space.lastCommit(), 'Recovered deleted directory "d"')
    })

    it('creates no commit for unchanged entries', async () => {
      const head = await space.head()
      const reply = await bringBack(space, commit, ['/a.txt', '/d'])
      assertReply(reply, 200, { success: ok(['/a.txt', false], ['/d', true]), failed: [] })
      assert.equal(await space.head(), head)
    })

    it('replaces a changed file, and adds a changed folder under another name', async () => {
      await put(space, '/a.txt', 'changed')
      await put(space, '/d/new', 'new')
      const reply = await bringBack(space, commit, ['/a.txt', '/d'])
      assert.deepEqual(reply.body.failed, [])
      assert.equal(await read(space, '/a.txt'), '/a.txt')
      assert.deepEqual(await namesIn(space.client, space.id), ['a.txt', 'b.txt', 'd (1)/', 'd/'])
      assert.deepEqual(await namesIn(space.client, space.id, '/d'), ['in/', 'new', 'x'])
      await remove(space, '/d (1)')
    })

    it('restores a file with its missing parents, and merges a restored folder around it', async () => {
      await remove(space, '/d')
      const reply = await bringBack(space, commit, ['/d/in/y', '/d/in/y', '/d'])
      assert.deepEqual(reply.body.failed, [])
      assert.deepEqual(await namesIn(space.client, space.id), ['a.txt', 'b.txt', 'd (1)/', 'd/'])
      for (const path of ['/d', '/d (1)']) await remove(space, path)
    })

    it('lets each item fail separately: locked, path taken, beyond the quota', async () => {
      const other = await Workspace.make(server)
      for (const path of ['/locked', '/f/deep', '/small', '/huge']) {
        await put(other, path, 'x'.repeat(path === '/huge' ? 3000 : 10))
      }
      const old = await other.head()
      for (const path of ['/f', '/small', '/huge']) await remove(other, path)
      await put(other, '/locked', 'changed')
      await put(other, '/f', 'a file')
      await other.lockFor('/locked', stranger)
      await server.running.services.accounts.update(other.client.email, { quota: 2000 }, undefined)
      const reply = await bringBack(other, old, ['/locked', '/f/deep', '/huge', '/small'])
      assertReply(reply, 200, {
        success: ok(['/small', false]),
        failed: failures(
          old,
          { path: '/locked', error_msg: 'File is locked' },
          { path: '/f/deep', error_msg: 'Folder /f not found.' },
          { path: '/huge', error_msg: 'Out of quota.' },
        ),
      })
      assert.deepEqual(await namesIn(other.client, other.id), ['f', 'locked', 'small'])
    })

    it('counts the restored bytes of all items together', async () => {
      const other = await Workspace.make(server)
      for (const path of ['/1', '/2', '/3']) await put(other, path, 'x'.repeat(400))
      const old = await other.head()
      for (const path of ['/1', '/2', '/3']) await remove(other, path)
      await server.running.services.accounts.update(other.client.email, { quota: 1000 }, undefined)
      const reply = await bringBack(other, old, ['/1', '/2', '/3'])
      assert.deepEqual(reply.body.success, ok(['/1', false], ['/2', false]))
      assert.deepEqual(reply.body.failed, failures(old, { path: '/3', error_msg: 'Out of quota.' }))
    })

    it('finds nothing in a commit that is unknown, hidden or of another library', async () => {
      const other = await Workspace.make(server, space.client)
      await put(other, '/a.txt', 'theirs')
      const head = await space.head()
      for (const foreign of [await other.head(), NO_COMMIT]) {
        const reply = await bringBack(space, foreign, ['/a.txt', '/b.txt'])
        const failed = failures(foreign, missing('/a.txt'), missing('/b.txt'))
        assertReply(reply, 200, { success: [], failed })
      }
      assert.equal(await space.head(), head)
      const hidden = await other.head()
      await remove(other, '/a.txt')
      await other.client.delete(other.v21('trash/'))
      const reply = await bringBack(other, hidden, ['/a.txt'])
      assertReply(reply, 200, { success: [], failed: failures(hidden, missing('/a.txt')) })
    })

    const hostile = ['..', '/d/..', 'x'.repeat(300), 'a/'.repeat(10_000), '__proto__', 'a\\b']
    for (const path of hostile) {
      it(`does not find ${JSON.stringify(path).slice(0, 30)}`, async () => {
        const head = await space.head()
        const reply = await bringBack(space, commit, [path])
        assertReply(reply, 200, { success: [], failed: failures(commit, missing(path)) })
        assert.equal(await space.head(), head)
      })
    }

    it('restores thousands at once', async () => {
      const other = await Workspace.make(server)
      const names = Array.from({ length: 3000 }, (_, n) => String(n))
      await other.folder('/all')
      await fill(server, other, '/all', names)
      const old = await other.head()
      await remove(other, '/all')
      const paths = names.map((name) => `/all/${name}`)
      const reply = await bringBack(other, old, paths)
      assert.deepEqual([reply.body.success.length, reply.body.failed.length], [3000, 0])
      assert.equal((await other.names('/all')).length, 3000)
    })

    it('requires a token, write permission and an existing library', async () => {
      const as = (client: Client, id = space.id) => new Workspace(server, client, id)
      assert.equal((await bringBack(as(server.anonymous), commit, ['/a.txt'])).status, 403)
      assert.equal((await bringBack(as(new Client(server.url, 'x')), commit, ['/a.txt'])).status, 401)
      assertError(await bringBack(as(stranger), commit, ['/a.txt']), 403, 'Permission denied.')
      const unknown = await bringBack(as(space.client, UNKNOWN), commit, ['/a.txt'])
      assertError(unknown, 404, `Library ${UNKNOWN} not found.`)
      const frozen = await Workspace.make(server)
      await frozen.makeReadOnly()
      assertError(await bringBack(frozen, commit, ['/a.txt']), 403, 'Permission denied.')
    })
  })
}

describe('the restore calls', () => {
  let space: Workspace
  let commit: string
  before(async () => {
    space = await Workspace.make(server)
    await put(space, '/a', '1')
    commit = await space.head()
  })

  it('accept a form, multipart and JSON', async () => {
    const body = { success: ok(['/a', false]), failed: [] }
    for (const encoding of ['form', 'multipart', 'json']) {
      for (const url of [space.v21('trash/revert-dirents/'), space.v21('trash/revert-dirents')]) {
        const sent = { path: ['/a'], commit_id: commit }
        assertReply(await space.client.post(url, { [encoding]: sent }), 200, body)
      }
      for (const url of [space.v21('trash2/revert/'), space.v21('trash2/revert')]) {
        assertReply(await space.client.post(url, { [encoding]: { [commit]: ['/a'] } }), 200, body)
      }
    }
  })

  it('restore from several commits at once', async () => {
    await put(space, '/b', '1')
    const second = await space.head()
    await remove(space, '/a')
    await remove(space, '/b')
    const json = { [commit]: ['/a', '/b'], [second]: ['/b'] }
    const reply = await space.client.post(space.v21('trash2/revert/'), { json })
    assertReply(reply, 200, {
      success: ok(['/a', false], ['/b', false]),
      failed: [{ commit_id: commit, ...missing('/b') }],
    })
  })

  const refused: [call: string, json: unknown, words: string][] = [
    ['trash/revert-dirents/', {}, 'path invalid.'],
    ['trash/revert-dirents/', { commit_id: NO_COMMIT }, 'path invalid.'],
    ['trash/revert-dirents/', { path: [], commit_id: NO_COMMIT }, 'path invalid.'],
    ['trash/revert-dirents/', { path: [''], commit_id: NO_COMMIT }, 'path invalid.'],
    ['trash/revert-dirents/', { path: ['/a', {}], commit_id: NO_COMMIT }, 'path invalid.'],
    ['trash/revert-dirents/', { path: ['a\u0000b'], commit_id: NO_COMMIT }, 'path invalid.'],
    ['trash/revert-dirents/', { path: ['\ud800'], commit_id: NO_COMMIT }, 'path invalid.'],
    ['trash/revert-dirents/', { path: ['/a'] }, 'commit_id invalid.'],
    ['trash/revert-dirents/', { path: ['/a'], commit_id: 'x' }, 'commit_id invalid.'],
    ['trash2/revert/', {}, 'commit_id invalid.'],
    ['trash2/revert/', [], 'commit_id invalid.'],
    ['trash2/revert/', { x: ['/a'] }, 'commit_id invalid.'],
    ['trash2/revert/', JSON.parse('{"__proto__": ["/a"]}'), 'commit_id invalid.'],
    ['trash2/revert/', { [NO_COMMIT]: [] }, 'path invalid.'],
    ['trash2/revert/', { [NO_COMMIT]: null }, 'path invalid.'],
    ['trash2/revert/', { [NO_COMMIT]: { a: 1 } }, 'path invalid.'],
    ['trash2/revert/', { [NO_COMMIT]: ['/a', ''] }, 'path invalid.'],
  ]
  for (const [call, json, words] of refused) {
    it(`reject ${call} ${JSON.stringify(json).slice(0, 50)}`, async () => {
      const head = await space.head()
      assertError(await space.client.post(space.v21(call), { json }), 400, words)
      assert.equal(await space.head(), head)
    })
  }
})
